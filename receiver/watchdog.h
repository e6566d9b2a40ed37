/* Tells the service manager, as often as it asks for it (WatchdogSec= of the unit), that plumbd works. When the manager
 * hears nothing for that long, it ends the process and starts it anew. What works is tried, not assumed: every shard
 * has answered a question, so that it waits for ever neither in the store nor for a lock; each network thread, the HTTP
 * thread and resource control have been through their loops. A store or a disk that says that it fails is not meant:
 * /readyz tells of that, and it is tried again. */
#pragma once

#include "receiver/background/resource_control.h"
#include "receiver/http/http.h"

typedef struct WatchdogOptions {
    Shard *const *shards;
    guint n_shards;
    Net *net, *hrpc; /* hrpc: NULL where it is off */
    Http *http;
    ResourceControl *control;
} WatchdogOptions;

typedef struct Watchdog Watchdog;
/* NULL: nobody asks for it. What options point to must outlive it. */
Watchdog *watchdog_start(const WatchdogOptions *options);
/* Takes NULL. Waits for the answers that are due. */
void watchdog_stop(Watchdog *watchdog);
