#include "bench/template.h"

#include <string.h>

#include "bench/model_file.h"
#include "common/base/error.h"

/* Methods of ClientProtocol whose calls have the shape of a captured one: the file system's method, the client's call,
 * the NameNode's. */
static const char *const methods[] = {
    "setReplication",
    "setPermission",
    "setOwner",
    "setTimes",
    "getContentSummary",
    "getQuotaUsage",
    "setQuota",
    "getStoragePolicy",
    "setStoragePolicy",
    "unsetStoragePolicy",
    "getFileLinkInfo",
    "getLinkTarget",
    "createSymlink",
    "concat",
    "truncate",
    "isFileClosed",
    "recoverLease",
    "createSnapshot",
    "deleteSnapshot",
    "renameSnapshot",
    "allowSnapshot",
    "getXAttrs",
    "setXAttr",
    "removeXAttr",
    "listXAttrs",
    "getAclStatus",
    "setAcl",
    "modifyAclEntries",
    "removeAclEntries",
    "checkAccess",
    "getECPolicy",
    "setECPolicy",
    "addCacheDirective",
    "listCacheDirectives",
    "getServerDefaults",
    "renewLease",
};
#define STREAM_THREAD    "dataStreamer"
#define SHAPE_OF_METHODS "Workload#stat"
#define METHOD_OF_SHAPE  "getFileInfo"
#define ROOT_OF_METHODS  "FileSystemShell#run"

/* Name of the root, of its tasks, and what they do: last parts of captured roots' names, or methods. */
static const char *const jobs[][3] = {
    {"SparkJob#save", "ResultTask#runTask", "write mkdirs rename stat delete"},
    {"SparkJob#collect", "ResultTask#runTask", "pread stat"},
    {"SparkJob#count", "ResultTask#runTask", "read stat list"},
    {"SparkJob#sortByKey", "ShuffleMapTask#runTask", "read pread write"},
    {"HiveQuery#select", "MapTask#run", "read pread stat getContentSummary"},
    {"HiveQuery#insert", "ReduceTask#run", "write rename mkdirs setPermission setOwner"},
    {"HiveQuery#alterTable", "MapTask#run", "rename delete getAclStatus setAcl modifyAclEntries"},
    {"MapReduceJob#sort", "ReduceTask#run", "read write rename"},
    {"MapReduceJob#join", "MapTask#run", "pread pread read write"},
    {"HStore#flush", "HStore#flushSnapshot", "write rename stat setTimes"},
    {"HStore#compact", "HStore#compactFiles", "read write rename delete stat"},
    {"HLog#roll", "HLog#writeEntries", "log append"},
    {"DistCp#execute", "CopyMapper#map", "read write setReplication setTimes setXAttr getXAttrs"},
    {"FlumeSink#process", "BucketWriter#append", "append log"},
    {"SnapshotJob#run", "SnapshotJob#copy", "createSnapshot renameSnapshot deleteSnapshot list tree"},
    {"FsShell#recursive", "FsShell#processPath", "list tree stat getContentSummary delete mkdirs missing"},
};

static guint32 add_string(TemplateSet *set, const char *text, gboolean tracer, gboolean numbered) {
    gpointer found = g_hash_table_lookup(set->index, text);
    if (found != NULL) return GPOINTER_TO_UINT(found) - 1;
    TemplateString one = {.text = g_string_chunk_insert(set->chunk, text),
                          .length = (guint8)strlen(text),
                          .tracer = tracer,
                          .numbered = numbered};
    g_array_append_val(set->strings, one);
    g_hash_table_insert(set->index, (gpointer)one.text, GUINT_TO_POINTER(set->strings->len));
    return set->strings->len - 1;
}

/* "sendBlock_1073741828" is kept as "sendBlock_". */
static guint32 add_name(TemplateSet *set, BatchString name) {
    guint32 length = name.length;
    while (length > 0 && g_ascii_isdigit(name.data[length - 1])) length--;
    gboolean numbered = name.length - length >= 6;
    g_autofree char *text = g_strndup(name.data, numbered ? length : name.length);
    guint before = set->strings->len;
    guint32 string = add_string(set, text, FALSE, numbered);
    if (set->strings->len > before) set->functions++;
    return string;
}

static int by_trace_and_end(const void *a, const void *b) {
    const BatchSpan *x = *(const BatchSpan *const *)a, *y = *(const BatchSpan *const *)b;
    gint64 x_end = x->begin_ns + x->duration_ns, y_end = y->begin_ns + y->duration_ns;
    if (x->id.trace != y->id.trace) return x->id.trace < y->id.trace ? -1 : 1;
    if (x_end != y_end) return x_end < y_end ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns ? -1 : 1; /* what is inside ends first */
    return span_id_compare(x->id, y->id);
}

/* The process behind a tracer id "Name/host/pid", and its name as a string of the set. DataNodes are told apart by
 * their host, within one trace. */
static guint8 find_place(TemplateSet *set, BatchString tracer, GPtrArray *datanodes, guint32 *name) {
    g_autofree char *text = g_strndup(tracer.data, tracer.length);
    char *slash = strchr(text, '/');
    const char *process = slash != NULL ? slash + 1 : "";
    g_autofree char *role = slash != NULL ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
    *name = add_string(set, role, TRUE, FALSE);
    if (strcmp(role, "NameNode") == 0) return PLACE_NAMENODE;
    if (strcmp(role, "DataNode") != 0) return PLACE_CLIENT;
    for (guint i = 0; i < datanodes->len; i++)
        if (strcmp(datanodes->pdata[i], process) == 0) return (guint8)(PLACE_DATANODE + i);
    if (datanodes->len < PLACES - PLACE_DATANODE) g_ptr_array_add(datanodes, g_strdup(process));
    return (guint8)(PLACE_DATANODE + datanodes->len - 1);
}

/* "/load/1/5/large" keeps "/large": the two folders before become others in every operation. */
static TemplateValue path_value(TemplateSet *set, guint32 key, const char *text) {
    guint slashes = 0;
    while (*text != '\0' && !(*text == '/' && ++slashes == 4)) text++;
    const char *rest = g_string_chunk_insert_const(set->chunk, text); /* equal ones are the same */
    return (TemplateValue){.key = key, .kind = VALUE_PATH, .text = rest, .length = (guint8)strlen(rest)};
}

static void add_values(TemplateSet *set, const SpanBatch *model, const BatchSpan *from, TemplateSpan *to) {
    to->values_at = set->values->len;
    for (guint i = 0; i < MIN(from->n_annotations, TEMPLATE_MOST_VALUES); i++) {
        BatchAnnotation a = g_array_index(model->annotations, BatchAnnotation, from->annotations_at + i);
        BatchString key = batch_string(model, a.key);
        g_autofree char *key_text = g_strndup(key.data, key.length);
        g_autofree char *text = g_strndup(a.value.data, MIN(a.value.length, 200));
        guint32 number = add_string(set, key_text, FALSE, FALSE);
        TemplateValue value = {.key = number,
                               .kind = a.value.length == 1 && g_ascii_isdigit(*text) ? VALUE_DIGIT : VALUE_FIXED,
                               .text = g_string_chunk_insert(set->chunk, text),
                               .length = (guint8)strlen(text)};
        if (*text == '/') value = path_value(set, number, text);
        g_array_append_val(set->values, value);
        to->n_values++;
    }
}

static void add_notes(TemplateSet *set, const SpanBatch *model, const BatchSpan *from, TemplateSpan *to) {
    to->notes_at = set->notes->len;
    for (guint i = 0; i < MIN(from->n_notes, TEMPLATE_MOST_VALUES); i++) {
        BatchNote note = g_array_index(model->notes, BatchNote, from->notes_at + i);
        TemplateNote one = {.time_ns = note.time_ns, .length = (guint8)MIN(note.message.length, 200)};
        one.text = g_string_chunk_insert_len(set->chunk, note.message.data, one.length);
        g_array_append_val(set->notes, one);
        to->n_notes++;
    }
}

static guint32 parent_of(const SpanBatch *model, const BatchSpan *span, const BatchSpan **trace, guint n) {
    if (span->n_parents == 0) return NO_PARENT;
    SpanId parent = g_array_index(model->parents, SpanId, span->parents_at);
    for (guint i = 0; i < n; i++)
        if (span_id_equal(trace[i]->id, parent)) return i;
    return NO_PARENT;
}

typedef struct Threads {
    TemplateSet *set;
    Template *template;
    guint16 *of; /* per span */
    guint16 stream;
} Threads;

static const TemplateSpan *span_of(const Threads *threads, guint32 k) {
    return &g_array_index(threads->set->spans, TemplateSpan, threads->template->first + k);
}

static guint16 add_thread(Threads *threads, guint8 place) {
    g_array_append_val(threads->set->threads, place);
    return (guint16)threads->template->n_threads++;
}

/* Calls that arrive are served by another thread; a client's blocks are sent by one of their own. */
static guint16 thread_of(Threads *threads, guint32 k) {
    const TemplateSpan *span = span_of(threads, k);
    const char *name = g_array_index(threads->set->strings, TemplateString, span->name).text;
    if (span->place == PLACE_CLIENT && strcmp(name, STREAM_THREAD) == 0) {
        if (threads->stream == 0) threads->stream = add_thread(threads, PLACE_CLIENT);
        return threads->stream;
    }
    if (span->parent == NO_PARENT) return span->place == PLACE_CLIENT ? 0 : add_thread(threads, span->place);
    gboolean called = span_of(threads, span->parent)->place != span->place;
    return called ? add_thread(threads, span->place) : threads->of[span->parent];
}

/* The spans below 'parent' in the order of their begins, each before those below it. */
static void add_draws(Threads *threads, guint32 parent) {
    for (gint64 after = -1, next; after < G_MAXINT64; after = next) {
        next = G_MAXINT64;
        for (guint32 k = 0; k < threads->template->count; k++) {
            const TemplateSpan *span = span_of(threads, k);
            if (span->parent == parent && span->begin_ns > after) next = MIN(next, span->begin_ns);
        }
        for (guint32 k = 0; k < threads->template->count; k++) {
            if (span_of(threads, k)->parent != parent || span_of(threads, k)->begin_ns != next) continue;
            threads->of[k] = thread_of(threads, k);
            const TemplateDraw draw = {(guint16)k, threads->of[k]};
            g_array_append_val(threads->set->draws, draw);
            add_draws(threads, k);
        }
    }
}

static void add_threads(TemplateSet *set, Template *one) {
    g_autofree guint16 *of = g_new0(guint16, one->count);
    Threads threads = {set, one, of, 0};
    one->draws_at = set->draws->len;
    one->threads_at = set->threads->len;
    add_thread(&threads, PLACE_CLIENT);
    add_draws(&threads, NO_PARENT);
    g_assert(set->draws->len == one->draws_at + one->count);
    set->threaded = MAX(set->threaded, one->n_threads);
}

/* One captured trace, its spans in the order of their ends. */
static void add_template(TemplateSet *set, const SpanBatch *model, const BatchSpan **trace, guint n) {
    g_autoptr(GPtrArray) datanodes = g_ptr_array_new_with_free_func(g_free);
    Template one = {.first = set->spans->len, .count = n};
    gint64 begin_ns = G_MAXINT64;
    for (guint i = 0; i < n; i++) begin_ns = MIN(begin_ns, trace[i]->begin_ns);

    for (guint i = 0; i < n; i++) {
        TemplateSpan span = {.begin_ns = trace[i]->begin_ns - begin_ns,
                             .duration_ns = trace[i]->duration_ns,
                             .name = add_name(set, batch_string(model, trace[i]->name)),
                             .parent = parent_of(model, trace[i], trace, n)};
        span.place = find_place(set, batch_string(model, trace[i]->tracer), datanodes, &span.tracer);
        add_values(set, model, trace[i], &span);
        add_notes(set, model, trace[i], &span);
        for (guint k = 0; k < span.n_notes; k++)
            g_array_index(set->notes, TemplateNote, span.notes_at + k).time_ns -= begin_ns;
        one.places = MAX(one.places, span.place + 1u);
        one.duration_ns = MAX(one.duration_ns, span.begin_ns + span.duration_ns);
        g_array_append_val(set->spans, span);
    }

    set->longest = MAX(set->longest, n);
    add_threads(set, &one);
    g_array_append_val(set->templates, one);
}

static void add_captured(TemplateSet *set, const SpanBatch *model) {
    guint n = model->spans->len;
    g_autofree const BatchSpan **order = g_new(const BatchSpan *, n);
    for (guint i = 0; i < n; i++) order[i] = batch_span(model, i);
    qsort(order, n, sizeof *order, by_trace_and_end);
    for (guint i = 0, first = 0; i < n; first = i) {
        while (i < n && order[i]->id.trace == order[first]->id.trace) i++;
        add_template(set, model, order + first, i - first);
    }
    set->captured = set->templates->len;
}

/* The last without a parent: a root ends last. */
static const TemplateSpan *root_of(const TemplateSet *set, guint32 template) {
    const Template *one = &g_array_index(set->templates, Template, template);
    for (guint i = one->count; i-- > 0;) {
        const TemplateSpan *span = &g_array_index(set->spans, TemplateSpan, one->first + i);
        if (span->parent == NO_PARENT) return span;
    }
    return &g_array_index(set->spans, TemplateSpan, one->first);
}

static const char *root_name(const TemplateSet *set, guint32 template) {
    return g_array_index(set->strings, TemplateString, root_of(set, template)->name).text;
}

static gboolean add_method(TemplateSet *set, guint32 shape, const char *method) {
    Template one = g_array_index(set->templates, Template, shape);
    guint32 from = one.first;
    one.first = set->spans->len;
    gboolean changed = FALSE;
    for (guint i = 0; i < one.count; i++) {
        TemplateSpan span = g_array_index(set->spans, TemplateSpan, from + i);
        const char *name = g_array_index(set->strings, TemplateString, span.name).text;
        const char *at = strstr(name, METHOD_OF_SHAPE);
        g_autofree char *text = at != NULL ? g_strdup_printf("%.*s%s", (int)(at - name), name, method)
                                           : g_strdup(span.parent == NO_PARENT ? ROOT_OF_METHODS : name);
        changed |= at != NULL;
        span.name = add_name(set, (BatchString){text, (guint32)strlen(text)});
        g_array_append_val(set->spans, span);
    }
    g_array_append_val(set->templates, one);
    return changed;
}

static gboolean add_methods(TemplateSet *set, GError **error) {
    for (guint32 t = 0; t < set->captured; t++) {
        if (strcmp(root_name(set, t), SHAPE_OF_METHODS) != 0) continue;
        set->app_tracer = root_of(set, t)->tracer;
        for (guint m = 0; m < G_N_ELEMENTS(methods); m++)
            if (!add_method(set, t, methods[m]))
                return fail(error, PLUMB_ERROR_INPUT, "the model's %s does not call %s", SHAPE_OF_METHODS,
                            METHOD_OF_SHAPE);
        return TRUE;
    }
    return fail(error, PLUMB_ERROR_INPUT, "the model holds no trace of %s", SHAPE_OF_METHODS);
}

static gboolean does(const TemplateSet *set, guint32 template, const char *word) {
    if (template >= set->captured) return strcmp(methods[template - set->captured], word) == 0;
    const char *name = root_name(set, template), *hash = strchr(name, '#');
    return hash != NULL && strcmp(hash + 1, word) == 0;
}

static gboolean add_job(TemplateSet *set, const char *const *job, GError **error) {
    Recipe recipe = {.root = add_name(set, (BatchString){job[0], (guint32)strlen(job[0])}),
                     .task = add_name(set, (BatchString){job[1], (guint32)strlen(job[1])})};
    g_auto(GStrv) words = g_strsplit(job[2], " ", -1);
    for (guint w = 0; words[w] != NULL; w++) {
        guint32 before = recipe.n_ops;
        for (guint32 t = 0; t < set->templates->len && recipe.n_ops < RECIPE_MOST_OPS; t++)
            if (does(set, t, words[w])) recipe.ops[recipe.n_ops++] = t;
        if (recipe.n_ops == before) return fail(error, PLUMB_ERROR_INPUT, "the model holds no '%s'", words[w]);
    }
    for (guint32 i = 0; i < recipe.n_ops; i++)
        recipe.mean_spans += g_array_index(set->templates, Template, recipe.ops[i]).count / (double)recipe.n_ops;
    g_array_append_val(set->recipes, recipe);
    return TRUE;
}

static guint32 shape_number(TemplateSet *set, GHashTable *known, const TemplateSpan *span) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "%u %u", span->name, span->tracer);
    for (guint i = 0; i < span->n_values; i++) {
        const TemplateValue *value = &g_array_index(set->values, TemplateValue, span->values_at + i);
        g_string_append_printf(text, " %u %d", value->key, value->kind == VALUE_DIGIT);
    }
    gpointer found = g_hash_table_lookup(known, text->str);
    if (found != NULL) return GPOINTER_TO_UINT(found) - 1;
    g_hash_table_insert(known, g_strdup(text->str), GUINT_TO_POINTER(++set->shapes));
    return set->shapes - 1;
}

static void number_shapes(TemplateSet *set) {
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < set->spans->len; i++) {
        TemplateSpan *span = &g_array_index(set->spans, TemplateSpan, i);
        span->shape = shape_number(set, known, span);
    }
    for (guint i = 0; i < set->recipes->len; i++) {
        Recipe *recipe = &g_array_index(set->recipes, Recipe, i);
        recipe->root_shape = shape_number(set, known, &(TemplateSpan){.name = recipe->root, .tracer = set->app_tracer});
        recipe->task_shape = shape_number(set, known, &(TemplateSpan){.name = recipe->task, .tracer = set->app_tracer});
    }
}

TemplateSet *template_set_load(const char *model_path, GError **error) {
    g_autoptr(SpanBatch) model = batch_new();
    if (!model_read(model_path, model, error)) return NULL;

    g_autoptr(TemplateSet) set = g_new0(TemplateSet, 1);
    set->strings = g_array_new(FALSE, FALSE, sizeof(TemplateString));
    set->spans = g_array_new(FALSE, FALSE, sizeof(TemplateSpan));
    set->values = g_array_new(FALSE, FALSE, sizeof(TemplateValue));
    set->notes = g_array_new(FALSE, FALSE, sizeof(TemplateNote));
    set->draws = g_array_new(FALSE, FALSE, sizeof(TemplateDraw));
    set->threads = g_array_new(FALSE, FALSE, sizeof(guint8));
    set->templates = g_array_new(FALSE, FALSE, sizeof(Template));
    set->recipes = g_array_new(FALSE, FALSE, sizeof(Recipe));
    set->chunk = g_string_chunk_new(4096);
    set->index = g_hash_table_new(g_str_hash, g_str_equal);

    add_captured(set, model);
    if (!add_methods(set, error)) return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(jobs); i++)
        if (!add_job(set, jobs[i], error)) return NULL;

    number_shapes(set);
    return g_steal_pointer(&set);
}

void template_set_free(TemplateSet *set) {
    if (set == NULL) return;
    GArray *arrays[] = {set->strings, set->spans,   set->values,    set->notes,
                        set->draws,   set->threads, set->templates, set->recipes};
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_array_free(arrays[i], TRUE);
    g_string_chunk_free(set->chunk);
    g_hash_table_destroy(set->index);
    g_free(set);
}
