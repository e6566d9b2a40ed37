/* What a generated cluster does, as templates: the traces of a captured run (bench/model/), the same calls with other
 * methods of the NameNode's, and jobs that are made of many of them. About 200 functions in all. */
#pragma once

#include <glib.h>

#define NO_PARENT G_MAXUINT32
/* Processes of one template: its client, a NameNode, and the DataNodes. */
#define PLACE_CLIENT         0u
#define PLACE_NAMENODE       1u
#define PLACE_DATANODE       2u
#define PLACES               16u
#define RECIPE_MOST_OPS      16u
#define TEMPLATE_MOST_VALUES 8u /* and notes, of a span */

/* A string of the tables: a function's name, an annotation's key, or a tracer's name, to which each process adds
 * "/host/pid". */
typedef struct TemplateString {
    const char *text;
    guint8 length;
    gboolean tracer;
    gboolean numbered; /* carries a block's number behind it, another one in each trace */
} TemplateString;

typedef enum { VALUE_FIXED, VALUE_PATH, VALUE_DIGIT } ValueKind;

typedef struct TemplateValue {
    guint32 key;
    ValueKind kind;
    const char *text; /* of a path: what stands behind the two folders that differ */
    guint8 length;
} TemplateValue;

typedef struct TemplateNote {
    gint64 time_ns; /* after the trace's begin */
    const char *text;
    guint8 length;
} TemplateNote;

typedef struct TemplateSpan {
    gint64 begin_ns, duration_ns; /* the begin counts from the trace's */
    guint32 name, tracer;
    guint32 parent; /* number in the template, or NO_PARENT */
    guint32 shape;  /* number of: function, tracer, keys of the values */
    guint8 place;
    guint8 n_values, n_notes;
    guint32 values_at, notes_at;
} TemplateSpan;

/* Spans draw their ids as they begin, each in its thread. */
typedef struct TemplateDraw {
    guint16 span;   /* number in the template */
    guint16 thread; /* of it; 0: the client's own */
} TemplateDraw;

/* Spans in the order of their ends, as their processes report them. */
typedef struct Template {
    guint32 first, count;
    gint64 duration_ns;            /* of the whole */
    guint32 places;                /* from 0 */
    guint32 draws_at;              /* as many as spans */
    guint32 threads_at, n_threads; /* the place of each */
} Template;

/* A job: root, tasks below it when it is large, and operations, which follow the order of 'ops' again and again, as a
 * program's steps do. */
typedef struct Recipe {
    guint32 root, task; /* strings */
    guint32 root_shape, task_shape;
    guint32 ops[RECIPE_MOST_OPS];
    guint32 n_ops;
    double mean_spans; /* of an operation */
} Recipe;

typedef struct TemplateSet {
    GArray *strings;   /* TemplateString */
    GArray *spans;     /* TemplateSpan */
    GArray *values;    /* TemplateValue */
    GArray *notes;     /* TemplateNote */
    GArray *draws;     /* TemplateDraw */
    GArray *threads;   /* guint8: place */
    GArray *templates; /* Template: first the captured ones, then those with other methods */
    GArray *recipes;   /* Recipe */
    guint32 shapes;
    guint32 captured;   /* templates */
    guint32 app_tracer; /* string: tracer of the roots and tasks of jobs */
    guint32 longest;    /* spans of a template */
    guint32 threaded;   /* most threads of a template */
    guint32 functions;  /* names of functions, roots and tasks of jobs included */
    GStringChunk *chunk;
    GHashTable *index; /* text -> string number + 1 */
} TemplateSet;

/* model_path: HTrace JSON lines. */
TemplateSet *template_set_load(const char *model_path, GError **error);
void template_set_free(TemplateSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TemplateSet, template_set_free)
