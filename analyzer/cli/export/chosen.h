/* Traces that a search finds, one by one, whole: what `plumb traces` would list with the same options. */
#pragma once

#include "analyzer/cli/options/invocation.h"

/* Their filters, as in `plumb traces`; all but the period. */
/* clang-format off */
#define OPTIONS_CHOSEN                                                                                                 \
    {"function", OPTION_TEXT, "FUNCTION", "function", "only traces that call this function", NULL},                    \
    {"path", OPTION_TEXT, "PATH", "path", "only traces that touch it or what is below: /a/b, b/c, *.gz", NULL},        \
    {"host", OPTION_TEXT, "HOST", "host", "only traces with such a call on this host", NULL},                          \
    {"role", OPTION_TEXT, "ROLE[,ROLE]", "role", "only traces with such a call of these roles", NULL},                 \
    {"min-duration", OPTION_TEXT, "DURATION", "min_duration", "only traces that took this long: 10ms, 1.5s", NULL},    \
    {"max-duration", OPTION_TEXT, "DURATION", "max_duration", "only traces that took no longer", NULL},                \
    {"annotation", OPTION_LIST, "KEY[=VALUE]", "annotation", "only traces with this annotation", NULL}
/* clang-format on */
/* Is one of them given? */
gboolean chosen_is_asked(const Invocation *invocation);

typedef struct ChosenVisitor {
    /* row: of the answer to "traces". FALSE to stop, with *error. */
    gboolean (*visit)(void *arg, const json_t *row, GError **error);
    void *arg;
} ChosenVisitor;
/* since: instead of the option of this name; NULL: that. Newest first. */
gboolean chosen_visit(const Invocation *invocation, Source *source, const char *since, const ChosenVisitor *visitor,
                      GError **error);
/* The answer to "trace" with all spans; of a trace that is kept in parts several, one behind the other. One that is
 * gone meanwhile has none. */
typedef struct ChosenSpans {
    gboolean (*take)(void *arg, const json_t *document, GError **error);
    void *arg;
} ChosenSpans;
gboolean chosen_load(Source *source, const char *trace, const ChosenSpans *spans, GError **error);
/* Has the trace more spans than an answer holds (100,000)? */
gboolean chosen_is_cut(const json_t *document);
gboolean chosen_fail_cut(const json_t *document, GError **error);
