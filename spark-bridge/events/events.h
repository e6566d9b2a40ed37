/* Lines of Spark's event logs, versions 1.x to 4.x, to records (model/spark.h).
 *
 * Events and fields that are not known are passed over; all fields but the event's name may be missing, except that a
 * task without its ids and a stage or job without its number are of no use and count as broken. What is told in parts
 * (a task's start and end) is told in several records of the same key, which merge: no memory of what was read is
 * needed, but the application's key. Records that come before the log has named its application wait for it here.
 *
 * Lines need LINE_PADDING_BYTES of readable memory behind them. One thread at a time. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_records.h"

typedef enum {
    EVENT_TAKEN,
    EVENT_PASSED, /* of a kind that says nothing of use, or empty */
    EVENT_BROKEN, /* not JSON, or cut, or without what it is about */
} EventResult;

typedef struct Events Events;

/* app: the key, when it is known from before; else NULL. name: what the log is called; its application's key if it
 * names none. */
Events *events_new(const char *app, const char *name);
void events_free(Events *events);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Events, events_free)

/* Is a line that begins with these bytes worth parsing? */
gboolean events_wanted(Bytes head);
/* Where records go from now on. To be called again whenever 'records' was emptied. */
void events_into(Events *events, SparkRecords *records);
/* *problem (static) is set for EVENT_BROKEN. */
EventResult events_take(Events *events, Bytes line, const char **problem);
/* The key, or NULL while the log has not named its application. */
const char *events_app(const Events *events);
/* Records that wait for it. */
gsize events_waiting(const Events *events);
/* The log will name no application: it is the name that was told. */
void events_app_by_name(Events *events);
/* Before the batch is handed on: adds what it adds to the application's record (its newest event). */
void events_close_batch(Events *events);
/* Has the application's end been read? */
gboolean events_ended(const Events *events);
