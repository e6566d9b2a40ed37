/* From a good configuration to the exit code: the daemon under signals.
 *
 * SIGTERM, SIGINT: orderly stop (a second one changes nothing). SIGHUP: reload. Readiness goes to stdout, as one line
 *   plumbd ready thrift=ADDRESS http=ADDRESS store=FOLDER
 * and to systemd (READY, RELOADING, STOPPING). */
#pragma once

#include "common/base/config.h"

/* Returns when plumbd has stopped: the process's exit code. */
int runner_run(Config *config);
