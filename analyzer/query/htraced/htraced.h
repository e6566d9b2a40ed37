/* The queries of htraced's REST port, for what was written against it: the version, one span, its children, and spans
 * by predicates. docs/ecosystem.md has the paths, and in what the answers differ.
 *
 * A question is "htraced/" and the path: "htraced/span/5b8efff798038103d269b633813fc60c/children". Parameters that
 * htraced does not know are ignored, as htraced does. */
#pragma once

#include "analyzer/query/shared/question.h"

#define HTRACED_QUESTIONS "htraced/"

static inline gboolean htraced_is(const char *question) { return g_str_has_prefix(question, HTRACED_QUESTIONS); }

/* Is it about one trace? Its id. */
gboolean htraced_asks_for(const char *question, guint64 *trace_id);

/* A new reference, or NULL with *error as of any question. */
json_t *htraced_answer(const Asked *asked, const char *question, GError **error);
