/* The time that a line of a log begins with, in the forms that log4j patterns give it. */
#pragma once

#include "spark-bridge/logs/log_text.h"

/* Milliseconds since the epoch; -1 when the line begins with no time, or with one without a date. zone: of times that
 * name none. */
gint64 log_time_ms(LogText line, GTimeZone *zone);
