/* Waits for logs to grow, and for the signals that end the program (SIGINT, SIGTERM, which it blocks meanwhile). */
#pragma once

#include "common/base/error.h"

typedef struct Watch Watch;

Watch *watch_new(GError **error);
void watch_free(Watch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Watch, watch_free)

/* Wakes watch_wait() when something changes in that folder. What cannot be watched (no rights, too many watches) is
 * looked at in intervals only, as HDFS is. Adding a folder again changes nothing. */
void watch_folder(Watch *watch, const char *path);
/* TRUE from the first signal on. */
gboolean watch_stopped(Watch *watch);
/* Returns when something changed, after a signal, or when the time is over. What changed before is not forgotten. */
void watch_wait(Watch *watch, guint timeout_ms);
