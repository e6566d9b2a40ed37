/* What the documents of "nodes" and "slow" have in common. */
#pragma once

#include "analyzer/cli/show/show.h"

/* A host that is slow: what, since when, what it costs, what shows it, what to look at next. number: 0: none. */
void show_spell(const json_t *spell, guint number, const Style *style, GString *out);
/* What can be done about it. */
void show_advice(const json_t *spell, const Style *style, GString *out);
/* One that is no suspicion, and why not. */
void show_excused(const json_t *spell, const Style *style, GString *out);
/* Hosts whose calls fail far more often than those of their peers. FALSE: there are none. */
gboolean show_failing(const json_t *document, const Style *style, GString *out);
/* "2.5 %" of a share of 1. A new string. */
char *show_share(double share);
/* That nothing can be called slow yet. FALSE: that is not so. */
gboolean show_not_judged(const json_t *document, const Style *style, GString *out);
/* What was looked at, and how sure it is. */
void show_looked_at(const json_t *document, const Style *style, GString *out);
/* "A -> B", where it is one link only; else NULL. A new string. */
char *spell_link(const Style *style, const json_t *spell);
/* "plumb nodes HOST", for a shell. A new string. */
char *spell_nodes(const Style *style, const json_t *spell);
/* A minute, for --since. A new string. */
char *spell_time(gint64 time_ns);
