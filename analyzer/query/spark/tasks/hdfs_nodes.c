#include "analyzer/query/spark/tasks/hdfs_nodes.h"

#include <string.h>

#include "common/base/allowance.h"

struct HdfsReader {
    Archive *archive;
    GHashTable *classes; /* name << 3 | role -> 1 + (CallClass | CallDoes << 8) */
    guint32 block, socket, transfer, bytes, exception, run_delay; /* ids of annotation keys; 0: none is stored */
    guint32 task;                                                 /* of the function SPARK_TASK_FUNCTION */
};

HdfsReader *hdfs_reader_new(Archive *archive) {
    const struct {
        gsize offset;
        const char *text;
    } names[] = {{G_STRUCT_OFFSET(HdfsReader, block), "block"},
                 {G_STRUCT_OFFSET(HdfsReader, socket), "waitNanos"},
                 {G_STRUCT_OFFSET(HdfsReader, transfer), "transferNanos"},
                 {G_STRUCT_OFFSET(HdfsReader, bytes), "bytes"},
                 {G_STRUCT_OFFSET(HdfsReader, exception), "exception"},
                 {G_STRUCT_OFFSET(HdfsReader, run_delay), "runDelayNs"},
                 {G_STRUCT_OFFSET(HdfsReader, task), SPARK_TASK_FUNCTION}};
    HdfsReader *reader = g_new0(HdfsReader, 1);
    reader->archive = archive;
    reader->classes = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        guint32 *id = (guint32 *)G_STRUCT_MEMBER_P(reader, names[i].offset);
        *id = dict_find(archive_dict(archive), names[i].text, strlen(names[i].text));
    }
    return reader;
}

void hdfs_reader_free(HdfsReader *reader) {
    if (!reader) return;
    g_hash_table_unref(reader->classes);
    g_free(reader);
}

static void put_class(HdfsReader *reader, guint32 name, FactsNode *node) {
    gpointer key = GSIZE_TO_POINTER((gsize)name << 3 | node->role);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(reader->classes, key));
    if (known == 0) {
        const char *text = dict_text(archive_dict(reader->archive), name, NULL);
        known = 1 + ((guint)hdfs_call_class(text, node->role) | (guint)hdfs_call_does(text) << 8);
        g_hash_table_insert(reader->classes, key, GUINT_TO_POINTER(known));
    }
    node->class = (CallClass)((known - 1) & 0xff);
    node->does = (guint16)((known - 1) >> 8);
}

/* What is no number is 0. */
static gint64 number_of(const SpanAnnotation *annotation) {
    gint64 number = 0;
    annotation_number(annotation, &number);
    return number;
}

static void read_values(const HdfsReader *reader, const SpanRec *span, FactsNode *node) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key == reader->block)
            node->block = (guint64)number_of(&annotation);
        else if (annotation.key == reader->exception)
            node->failed = TRUE;
        else if (node->class == CALL_TRANSFER && annotation.key == reader->socket)
            node->socket_ns = MAX(number_of(&annotation), 0);
        else if (node->class == CALL_TRANSFER && annotation.key == reader->transfer)
            node->transfer_ns = MAX(number_of(&annotation), 0);
        else if ((node->does & (DOES_FETCH | DOES_FETCH_LOCAL)) && annotation.key == reader->bytes)
            node->bytes = MAX(number_of(&annotation), 0);
    }
}

/* What the agent knows of the task's own thread. */
static void read_task(const HdfsReader *reader, const CallTree *tree, HdfsFacts *facts) {
    for (guint32 i = 1; i < tree->n_nodes && allowance_goes_on(); i = tree->end[i]) {
        if (!tree->span[i] || tree->span[i]->name != reader->task || reader->task == 0) continue;
        SpanCursor cursor = span_cursor(tree->span[i]);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation))
            if (annotation.key == reader->run_delay) facts->run_delay_ns = MAX(number_of(&annotation), 0);
    }
}

/* One for each node of the tree; free with g_free(). */
static FactsNode *hdfs_reader_nodes(HdfsReader *reader, const CallTree *tree) {
    const Lookup *lookup = archive_lookup(reader->archive);
    FactsNode *nodes = g_new0(FactsNode, tree->n_nodes);
    for (guint32 i = 1; i < tree->n_nodes && allowance_goes_on(); i++) {
        const SpanRec *span = tree->span[i];
        if (!span) continue;
        lookup->process(lookup->arg, span->tracer, &nodes[i].role, &nodes[i].host);
        put_class(reader, span->name, &nodes[i]);
        if (nodes[i].class != CALL_APPLICATION) read_values(reader, span, &nodes[i]);
    }
    return nodes;
}

void hdfs_reader_add_view(HdfsReader *reader, const TraceView *view, gboolean path, HdfsFacts *facts) {
    g_autofree FactsNode *nodes = hdfs_reader_nodes(reader, view->tree);
    hdfs_facts_add(facts, view->tree, nodes, view->times->critical_ns, 0);
    read_task(reader, view->tree, facts);
    if (path && facts->hdfs_ns == 0) hdfs_facts_add_path(facts, view->tree, nodes, view->times->critical_ns, 0);
}

void hdfs_reader_add_path(HdfsReader *reader, const TraceView *view, HdfsFacts *facts) {
    g_autofree FactsNode *nodes = hdfs_reader_nodes(reader, view->tree);
    hdfs_facts_add_path(facts, view->tree, nodes, view->times->critical_ns, 0);
}

gboolean hdfs_reader_add(HdfsReader *reader, guint64 trace_id, HdfsFacts *facts, gint64 *begin_ns, GError **error) {
    g_autoptr(TraceView) view = trace_view_load(reader->archive, trace_id, error);
    if (!view) return FALSE;
    hdfs_reader_add_view(reader, view, FALSE, facts);
    *begin_ns = view->tree->begin_ns;
    return TRUE;
}
