/* How far a forwarding came: which traces were sent. A file of JSON, replaced whole.
 *
 * Traces are stored when they are complete, so one may come after others that began later: a time alone says nothing.
 * The position is a time before which nothing is looked for any more, and the traces that were sent of those that began
 * since. */
#pragma once

#include <glib.h>

typedef struct Position Position;

/* What the file says, or, when there is none, nothing sent and since_ns. path NULL: it is kept nowhere. Errors: IO,
 * INPUT (it is none, or of another address). */
Position *position_open(const char *path, const char *url, gint64 since_ns, GError **error);
void position_free(Position *position);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Position, position_free)

gint64 position_since_ns(const Position *position);
/* How many spans of it were sent; -1: none. */
gint64 position_sent(const Position *position, const char *trace);
void position_add(Position *position, const char *trace, gint64 begin_ns, gint64 spans);
/* Nothing before since_ns is looked for any more: forgets what was sent of it. */
void position_advance(Position *position, gint64 since_ns);
gboolean position_save(const Position *position, GError **error);
