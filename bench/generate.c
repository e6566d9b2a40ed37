#include "bench/generate.h"

#include <math.h>
#include <string.h>

#include "bench/model_file.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/model/id_place.h"

#define STRETCHES 4096
#define NO_PARENT G_MAXUINT32

typedef struct Template {
    guint first, count; /* spans in model order */
    gint64 begin_ns;    /* least begin */
} Template;

struct Generator {
    GeneratorOptions options;
    SpanBatch *model;
    GArray *templates;   /* Template; spans of one trace lie together in 'order' */
    guint32 *order;      /* model span numbers grouped by trace */
    guint32 *process_of; /* model span -> process */
    guint32 *parents;    /* as model->parents: span of the template, or NO_PARENT */
    GPtrArray *tracers;  /* process -> tracer text of the model */
    GPtrArray *batches;  /* process -> SpanBatch */
    double stretch[STRETCHES];
    guint64 random;
    guint64 *places; /* of the processes in their sequences of ids */
    guint64 *ids;    /* scratch: ids of the trace being made */
};

static guint64 next_random(Generator *g) { return mix64_next(&g->random); }

static double next_unit(Generator *g) { return (double)(next_random(g) >> 11) / 9007199254740992.0; }

static int by_trace(const void *a, const void *b, void *arg) {
    const SpanBatch *model = arg;
    const BatchSpan *x = batch_span(model, *(const guint32 *)a), *y = batch_span(model, *(const guint32 *)b);
    if (x->id.trace != y->id.trace) return x->id.trace < y->id.trace ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return span_id_compare(x->id, y->id);
}

static void group_by_trace(Generator *g) {
    guint n = g->model->spans->len;
    g->order = g_new(guint32, n);
    for (guint i = 0; i < n; i++) g->order[i] = i;
    g_qsort_with_data(g->order, (gint)n, sizeof *g->order, by_trace, g->model);
    guint longest = 0;
    for (guint i = 0; i < n;) {
        const BatchSpan *first = batch_span(g->model, g->order[i]);
        Template one = {.first = i, .begin_ns = first->begin_ns};
        while (i < n && batch_span(g->model, g->order[i])->id.trace == first->id.trace) i++;
        one.count = i - one.first;
        longest = MAX(longest, one.count);
        g_array_append_val(g->templates, one);
    }
    g->ids = g_new(guint64, longest);
}

static void resolve_parents(Generator *g) {
    g->parents = g_new(guint32, MAX(g->model->parents->len, 1));
    for (guint t = 0; t < g->templates->len; t++) {
        const Template *one = &g_array_index(g->templates, Template, t);
        g_autoptr(GHashTable) position = g_hash_table_new(g_int64_hash, g_int64_equal);
        for (guint k = 0; k < one->count; k++) {
            const BatchSpan *span = batch_span(g->model, g->order[one->first + k]);
            g_hash_table_insert(position, (gpointer)&span->id.span, GUINT_TO_POINTER(k + 1));
        }
        for (guint k = 0; k < one->count; k++) {
            const BatchSpan *span = batch_span(g->model, g->order[one->first + k]);
            for (guint p = 0; p < span->n_parents; p++) {
                const SpanId *parent = &g_array_index(g->model->parents, SpanId, span->parents_at + p);
                gpointer found = parent->trace == span->id.trace ? g_hash_table_lookup(position, &parent->span) : NULL;
                g->parents[span->parents_at + p] = found != NULL ? GPOINTER_TO_UINT(found) - 1 : NO_PARENT;
            }
        }
    }
}

/* A process is a tracer id of the model; its batches use one string table: all strings of the model, then its tracer.
 */
static void find_processes(Generator *g) {
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    g->process_of = g_new(guint32, g->model->spans->len);
    for (guint i = 0; i < g->model->spans->len; i++) {
        guint32 tracer = batch_span(g->model, i)->tracer;
        gpointer found = g_hash_table_lookup(known, GUINT_TO_POINTER(tracer + 1));
        if (found == NULL) {
            BatchString text = batch_string(g->model, tracer);
            g_ptr_array_add(g->tracers, g_strndup(text.data, text.length));
            found = GUINT_TO_POINTER(g->tracers->len);
            g_hash_table_insert(known, GUINT_TO_POINTER(tracer + 1), found);
            SpanBatch *batch = batch_new();
            g_ptr_array_add(g->batches, batch);
        }
        g->process_of[i] = GPOINTER_TO_UINT(found) - 1;
    }
}

static void begin_batch(Generator *g, guint process) {
    SpanBatch *batch = g->batches->pdata[process];
    batch_clear(batch);
    g_array_append_vals(batch->strings, g->model->strings->data, g->model->strings->len);
    /* Hosts: the same process on other machines, "DataNode/10.0.0.17/4242". */
    const char *tracer = g->tracers->pdata[process];
    g_auto(GStrv) parts = g_strsplit(tracer, "/", 3);
    for (guint32 host = 0; host < g->options.hosts; host++) {
        g_autofree char *text =
            g_strdup_printf("%s/10.0.%u.%u/%u", parts[0], host / 250, host % 250 + 1, 4000 + process);
        BatchString copy = batch_copy(batch, text, strlen(text));
        g_array_append_val(batch->strings, copy);
    }
}

Generator *generator_new(const GeneratorOptions *options, GError **error) {
    g_autoptr(SpanBatch) model = batch_new();
    if (!model_read(options->model_path, model, error)) return NULL;

    Generator *g = g_new0(Generator, 1);
    g->options = *options;
    g->options.hosts = MAX(options->hosts, 1);
    g->model = g_steal_pointer(&model);
    g->random = options->seed;
    g->templates = g_array_new(FALSE, FALSE, sizeof(Template));
    g->tracers = g_ptr_array_new_with_free_func(g_free);
    g->batches = g_ptr_array_new_with_free_func((GDestroyNotify)batch_free);

    group_by_trace(g);
    resolve_parents(g);
    find_processes(g);

    for (guint i = 0; i < STRETCHES; i++) {
        /* Log-normal with sigma 0.5, by Box and Muller. */
        double radius = sqrt(-2 * log(1 - next_unit(g))), angle = 2 * G_PI * next_unit(g);
        g->stretch[i] = exp(0.5 * radius * cos(angle));
    }

    for (guint p = 0; p < g->batches->len; p++) begin_batch(g, p);
    g->places = g_new(guint64, g->options.hosts);
    for (guint32 i = 0; i < g->options.hosts; i++) g->places[i] = next_random(g);
    return g;
}

void generator_free(Generator *g) {
    if (g == NULL) return;
    batch_free(g->model);
    g_array_free(g->templates, TRUE);
    g_ptr_array_free(g->tracers, TRUE);
    g_ptr_array_free(g->batches, TRUE);
    g_free(g->order);
    g_free(g->process_of);
    g_free(g->parents);
    g_free(g->places);
    g_free(g->ids);
    g_free(g);
}

guint generator_processes(const Generator *g) { return g->batches->len; }
SpanBatch *generator_batch(Generator *g, guint process) { return g->batches->pdata[process]; }
void generator_batch_done(Generator *g, guint process) { begin_batch(g, process); }

/* Paths and block names of other traces carry other numbers: the last digits of a value are drawn anew. */
static BatchString vary_value(SpanBatch *batch, BatchString value, guint64 number) {
    if (value.length == 0 || value.length > 512) return value;
    char text[512];
    memcpy(text, value.data, value.length);
    gboolean changed = FALSE;
    guint left = 6;
    for (guint32 i = value.length; i > 0 && left > 0; i--) {
        if (!g_ascii_isdigit(text[i - 1])) continue;
        text[i - 1] = (char)('0' + number % 10);
        number /= 10;
        left--;
        changed = TRUE;
    }
    return changed ? batch_copy(batch, text, value.length) : value;
}

/* "sendBlock_1073741828" is another name for every block, and so another entry of the string table. */
static guint32 vary_name(SpanBatch *batch, guint32 name, guint64 number) {
    BatchString text = batch_string(batch, name);
    if (text.length < 8 || !g_ascii_isdigit(text.data[text.length - 1])) return name;
    if (!g_ascii_isdigit(text.data[text.length - 4])) return name;
    BatchString varied = vary_value(batch, text, number);
    g_array_append_val(batch->strings, varied);
    return batch->strings->len - 1;
}

static void copy_annotations(Generator *g, SpanBatch *batch, const BatchSpan *from, guint64 number) {
    for (guint i = 0; i < from->n_annotations; i++) {
        BatchAnnotation a = g_array_index(g->model->annotations, BatchAnnotation, from->annotations_at + i);
        batch_add_annotation(batch, a.key, vary_value(batch, a.value, number));
    }
}

static void copy_parents(Generator *g, SpanBatch *batch, const BatchSpan *from, guint64 trace) {
    for (guint i = 0; i < from->n_parents; i++) {
        guint32 local = g->parents[from->parents_at + i];
        SpanId parent = {trace, local != NO_PARENT ? g->ids[local] : 0};
        if (local == NO_PARENT) parent = (SpanId){next_random(g), next_random(g)};
        batch_add_parent(batch, parent);
    }
}

static gint64 spread(Generator *g, gint64 ns, double stretch) {
    gint64 stretched = (gint64)((double)ns * stretch);
    if (!g->options.nanoseconds) return stretched / NS_PER_MS * NS_PER_MS;
    return stretched + (gint64)(next_random(g) % (guint64)NS_PER_MS);
}

/* As our agent does: a thread's one after the other, in the sequence of its process. */
static void draw_ids(Generator *g, const Template *one, guint32 host) {
    for (guint k = 0; k < one->count; k++) {
        guint32 tracer = (host + g->process_of[g->order[one->first + k]]) % g->options.hosts;
        g->ids[k] = id_at_place(g->places[tracer]++);
    }
}

guint generator_trace(Generator *g) {
    const Template *one = &g_array_index(g->templates, Template, next_random(g) % g->templates->len);
    guint64 trace = next_random(g) | 1, number = next_random(g);
    double stretch = g->stretch[number % STRETCHES];
    gint64 begin_ns = g->options.now_ns();
    if (!g->options.nanoseconds) begin_ns = begin_ns / NS_PER_MS * NS_PER_MS;
    guint32 host = (guint32)(number >> 32) % g->options.hosts;
    draw_ids(g, one, host);

    for (guint k = 0; k < one->count; k++) {
        guint32 source = g->order[one->first + k];
        guint32 process = g->process_of[source];
        const BatchSpan *from = batch_span(g->model, source);
        SpanBatch *batch = g->batches->pdata[process];
        BatchSpan *span = batch_begin_span(batch, (SpanId){trace, g->ids[k]});
        span->begin_ns = begin_ns + spread(g, from->begin_ns - one->begin_ns, stretch);
        span->duration_ns = spread(g, from->duration_ns, stretch);
        span->name = vary_name(batch, from->name, number);
        span->tracer = g->model->strings->len + (host + process) % g->options.hosts;
        span->flags = g->options.nanoseconds ? 0 : SPAN_MILLISECONDS;

        copy_parents(g, batch, from, trace);
        copy_annotations(g, batch, from, number);
        for (guint i = 0; i < from->n_notes; i++) {
            BatchNote note = g_array_index(g->model->notes, BatchNote, from->notes_at + i);
            batch_add_note(batch, begin_ns + spread(g, note.time_ns - one->begin_ns, stretch), note.message);
        }
    }
    return one->count;
}
