/* A line of a task as Spark 3 and 4 write nearly all of them: its fields in the order of Spark's JsonProtocol, without
 * blanks, of a task that began or ended well. Such a line is read from its begin to its end by what must come next,
 * which is faster than to find the structure of its JSON. */
#pragma once

#include "common/base/bytes.h"
#include "spark-bridge/events/json_events.h"

/* FALSE: it is another event, or anything in it is otherwise. json_events_parse() can read it then, or say how it is
 * broken; of the record only 'texts' counts. */
gboolean task_line_parse(const TaskGroups *groups, EventKind kind, Bytes line, EventRecord *record);
