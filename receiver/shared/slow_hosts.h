/* Hosts that are slower than predicted (docs/nodes.md), as they were found last: one thread sets them, any reads them.
 */
#pragma once

#include <glib.h>

typedef struct SlowHosts SlowHosts;
SlowHosts *slow_hosts_new(void);
void slow_hosts_free(SlowHosts *hosts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SlowHosts, slow_hosts_free)

/* More are left out: what is read of them is one line each. */
#define SLOW_HOSTS_MAX 1000u

typedef struct SlowHost {
    char *host;
    const char *class; /* of work; lives as long as the program */
    double slowdown;   /* times as long as predicted */
} SlowHost;

/* What is found next, instead of what is there: copies the text. */
void slow_hosts_add(SlowHosts *hosts, const SlowHost *host);
/* All that was added since the last time is what is there now. */
void slow_hosts_publish(SlowHosts *hosts);

/* There was no judgement: the one before stays. */
void slow_hosts_refuse(SlowHosts *hosts);
guint64 slow_hosts_refused(SlowHosts *hosts); /* how often */

typedef void (*SlowHostVisit)(void *arg, const SlowHost *host);
void slow_hosts_foreach(SlowHosts *hosts, SlowHostVisit visit, void *arg);
