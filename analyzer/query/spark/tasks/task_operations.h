/* The operations of a task that the agent traced: spans "RDD:..." of the task's own trace, as records. */
#pragma once

#include "analyzer/archive/archive.h"
#include "common/model/spark_records.h"

/* Knows the annotations' keys: keep one for all tasks of a question. */
typedef struct OperationReader OperationReader;
OperationReader *operation_reader_new(Archive *archive);
void operation_reader_free(OperationReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OperationReader, operation_reader_free)

/* Appends SparkOperations, without application and stage. Nothing when the task was not
 * traced. Of a trace with very many spans those in its first parts. */
gboolean operation_reader_add(OperationReader *reader, guint64 trace, SparkRecords *into, GError **error);
