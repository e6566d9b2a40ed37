/* Parameters of a question: checked names, parsed values.
 *
 * Getters leave their out-parameter untouched when the parameter was not given, so it holds the default; they fail with
 * INPUT, and a message that says what is allowed, when the value is malformed. */
#pragma once

#include "common/base/error.h"
#include "common/model/role.h"

typedef struct QueryParams QueryParams;
QueryParams *query_params_new(void);
void query_params_free(QueryParams *params);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryParams, query_params_free)
/* A parameter may be given several times. Copies both. */
void query_params_add(QueryParams *params, const char *name, const char *value);
/* The same parameters, in the same order? */
gboolean query_params_equal(const QueryParams *a, const QueryParams *b);

/* Every name must be in the NULL-terminated list 'allowed'; only "exclude" and "annotation" may be given twice; all
 * must be UTF-8. */
gboolean params_check(const QueryParams *params, const char *question, const char *const *allowed, GError **error);

/* Whatever their names are: all must be UTF-8. */
gboolean params_check_text(const QueryParams *params, GError **error);

/* The value of a parameter, or NULL; with i, the i-th of a repeated one. */
const char *params_text(const QueryParams *params, const char *name);
const char *params_nth(const QueryParams *params, const char *name, guint i);

typedef struct Period {
    gint64 since_ns; /* G_MININT64: open */
    gint64 until_ns; /* exclusive; G_MAXINT64: open */
} Period;

/* "since" and "until"; open where not given. INPUT when it ends before it begins. */
gboolean params_period(const QueryParams *params, gint64 now_ns, Period *period, GError **error);
/* "SINCE..UNTIL" as the value of one parameter; either side may be empty. */
gboolean params_range(const QueryParams *params, const char *name, gint64 now_ns, Period *period, GError **error);
gboolean params_duration(const QueryParams *params, const char *name, gint64 *ns, GError **error);
gboolean params_count(const QueryParams *params, const char *name, guint64 *count, GError **error);
/* A number that is not negative: 0.9, 1.6. */
gboolean params_real(const QueryParams *params, const char *name, double *value, GError **error);
gboolean params_flag(const QueryParams *params, const char *name, gboolean *flag, GError **error);
/* The index of the value in the NULL-terminated list. */
gboolean params_choice(const QueryParams *params, const char *name, const char *const *choices, guint *index,
                       GError **error);

#define ALL_ROLES ((1u << ROLE_COUNT) - 1)
/* "role": one or several, separated by commas; a bit 1 << Role for each. */
gboolean params_roles(const QueryParams *params, guint32 *roles, GError **error);

/* Points in time and lengths of time as people write them; FALSE when malformed or out of range. */
gboolean text_to_time(const char *text, gint64 now_ns, gint64 *ns);
gboolean text_to_duration(const char *text, gint64 *ns); /* for tests */
