#include "analyzer/query/spark/tasks/task_operations.h"

#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/diagnosis/hdfs_calls.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/error.h"

/* Dictionary ids of the annotations; 0: none of it is stored. */
typedef struct Keys {
    guint32 rdd, partition, exclusive, records, at_start, at_end;
} Keys;

struct OperationReader {
    Archive *archive;
    Keys keys;
    GHashTable *classes; /* dictionary id of a function -> its class, or "" for what is no operation */
};

OperationReader *operation_reader_new(Archive *archive) {
    OperationReader *reader = g_new0(OperationReader, 1);
    Dict *dict = archive_dict(archive);
    reader->archive = archive;
    reader->classes = g_hash_table_new(NULL, NULL);
    reader->keys = (Keys){
        .rdd = dict_find(dict, "rddId", 5),
        .partition = dict_find(dict, "partition", 9),
        .exclusive = dict_find(dict, "exclusiveNs", 11),
        .records = dict_find(dict, "records", 7),
        .at_start = dict_find(dict, "jvmStart", 8),
        .at_end = dict_find(dict, "jvmEnd", 6),
    };
    return reader;
}

void operation_reader_free(OperationReader *reader) {
    if (!reader) return;
    g_hash_table_unref(reader->classes);
    g_free(reader);
}

/* "" of other functions. Names of the dictionary stay where they are. */
static const char *class_of(OperationReader *reader, guint32 name) {
    const char *class = g_hash_table_lookup(reader->classes, GUINT_TO_POINTER(name));
    if (class) return class;
    const char *text = node_text(reader->archive, name);
    class = g_str_has_prefix(text, SPARK_OPERATION_PREFIX) ? text + strlen(SPARK_OPERATION_PREFIX) : "";
    g_hash_table_insert(reader->classes, GUINT_TO_POINTER(name), (gpointer) class);
    return class;
}

static gint64 number_of(const SpanAnnotation *annotation) {
    gint64 value;
    return annotation_number(annotation, &value) && value >= 0 ? value : -1;
}

/* "8000,0,123456,...": in the order of JvmFeature; what is missing or no number stays unknown. */
static void read_features(const SpanAnnotation *annotation, double *features) {
    if (annotation->length > 1024) return;
    g_autofree char *text = g_strndup(annotation->value, annotation->length);
    const char *at = text;
    for (guint f = 0; f < JVM_FEATURE_COUNT && *at != '\0'; f++) {
        char *end = NULL;
        const double value = g_ascii_strtod(at, &end);
        if (g_ascii_isdigit(*at) && (*end == ',' || *end == '\0') && value <= 1e300) features[f] = value;
        at += strcspn(at, ",");
        at += *at == ',';
    }
}

static void add_operation(OperationReader *reader, const SpanRec *span, const char *class, SparkRecords *into) {
    SparkOperation *operation = spark_add_operation(into);
    operation->class_name = spark_text_shared(into, class, strlen(class));
    operation->source = OPERATION_AGENT;
    operation->instance = (gint64)span->id.span;
    operation->begin_ns = span->begin_ns;
    operation->end_ns = span->begin_ns + MAX(span->duration_ns, 0);

    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;

    while (span_next_annotation(&cursor, &annotation)) {
        const guint32 key = annotation.key;
        if (key == reader->keys.rdd)
            operation->rdd = number_of(&annotation);
        else if (key == reader->keys.partition)
            operation->partition = (gint32)MIN(number_of(&annotation), G_MAXINT32);
        else if (key == reader->keys.exclusive)
            operation->exclusive_ns = number_of(&annotation);
        else if (key == reader->keys.records)
            operation->records = number_of(&annotation);
        else if (key == reader->keys.at_start)
            read_features(&annotation, operation->at_start);
        else if (key == reader->keys.at_end)
            read_features(&annotation, operation->at_end);
    }
}

gboolean operation_reader_add(OperationReader *reader, guint64 trace, SparkRecords *into, GError **error) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) failure = NULL;
    ArchiveLoad load = {.first_part = 0, .max_spans = TRACE_VIEW_SPANS};
    if (!archive_load_parts(reader->archive, trace, &load, bytes, &failure)) {
        if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE;
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(bytes, &at)) != NULL;) {
        const char *class = class_of(reader, span->name);
        if (class[0] != '\0') add_operation(reader, span, class, into);
    }
    return TRUE;
}
