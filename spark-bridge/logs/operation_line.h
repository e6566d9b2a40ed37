/* One line of an operation log, taken apart. Nothing is copied. */
#pragma once

#include "common/model/spark_values.h"
#include "spark-bridge/logs/log_text.h"

typedef enum { OPERATION_BEGINS, OPERATION_RETURNS, OPERATION_THROWS } OperationFlag;

typedef struct OperationLine {
    OperationFlag flag;
    LogText class_name, rdd_text;
    LogText app, executor, host; /* empty: not said */
    gint64 timestamp_ms;
    gint64 nano; /* of the JVM's own clock; -1: not said */
    gint64 thread, stage, partition;
    gint64 stage_attempt, task, rdd; /* -1: not said */
    double features[JVM_FEATURE_COUNT];
} OperationLine;

/* FALSE when it lacks one of tag, flag, timestamp, thread, stage and partitionId, or one of them cannot be read. */
gboolean operation_line_parse(LogText text, OperationLine *line);
