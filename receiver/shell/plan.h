/* The analyses that plumbd runs for readers of its page, a fixed list: commands of `plumb` that only ask, with the
 * options that name no file and no server. What a reader sends is checked here, by kind, and becomes an argument
 * vector; no shell ever sees it. tests/receiver/test_shell.py holds the list to the words of `plumb`. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Of one value; and so many values of a list. */
#define PLAN_TEXT_BYTES 1024u
#define PLAN_LIST_MAX   16u

typedef enum { PLAN_FLAG, PLAN_NUMBER, PLAN_CHOICE, PLAN_TEXT, PLAN_LIST } PlanKind;

typedef struct PlanParameter {
    const char *name; /* of the option, without its dashes */
    PlanKind kind;
    const char *of;    /* choices with '|' between; else what a text names, for completion; NULL: anything */
    gboolean argument; /* it has no name on the command line: its place tells what it is */
    gboolean required;
} PlanParameter;

typedef struct PlanAnalysis {
    const char *name; /* of the command, too */
    const char *title;
    const PlanParameter *parameters; /* ends with a NULL name; arguments in their order */
} PlanAnalysis;

/* Ends with a NULL name. */
extern const PlanAnalysis plan_analyses[];

/* [{"analysis", "title", "parameters": [{"name", "kind", "choices", "of", "argument", "required"}]}]; a new
 * reference. */
json_t *plan_list(void);
/* What follows the program's name for {"analysis", "parameters": {NAME: VALUE}}: free with g_strfreev(). Flags are
 * true or false, numbers whole, lists arrays. Error INPUT says which value is wrong and what it may be. */
char **plan_arguments(const json_t *request, const PlanAnalysis **analysis, GError **error);
/* The same as somebody would type it: "plumb why latest --stage=3"; a new string. */
char *plan_command(const char *const *arguments);
