/* Hosts that are slower than predicted, and how all hosts stand (docs/nodes.md), as they were found last: one thread
 * sets them, any reads them. */
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

/* So many hosts stand so. There are as many of these as classes of work times states. */
typedef struct HostsStanding {
    const char *class, *state; /* live as long as the program */
    guint hosts;
} HostsStanding;

/* What is found next, instead of what is there: copies the text. */
void slow_hosts_add(SlowHosts *hosts, const SlowHost *host);
void slow_hosts_add_standing(SlowHosts *hosts, const HostsStanding *standing);
/* All that was added since the last time is what is there now. */
void slow_hosts_publish(SlowHosts *hosts, gint64 now_ns);
gint64 slow_hosts_published_ns(SlowHosts *hosts); /* 0: never */

/* There was no judgement: the one before stays. */
void slow_hosts_refuse(SlowHosts *hosts);
guint64 slow_hosts_refused(SlowHosts *hosts); /* how often */

typedef void (*SlowHostVisit)(void *arg, const SlowHost *host);
void slow_hosts_foreach(SlowHosts *hosts, SlowHostVisit visit, void *arg);
typedef void (*HostsStandingVisit)(void *arg, const HostsStanding *standing);
void slow_hosts_foreach_standing(SlowHosts *hosts, HostsStandingVisit visit, void *arg);
