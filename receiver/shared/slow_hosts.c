#include "receiver/shared/slow_hosts.h"

#include <pthread.h>
#include <stdatomic.h>

/* One look at the hosts. */
typedef struct Found {
    GArray *slow;     /* SlowHost */
    GArray *standing; /* HostsStanding */
} Found;

struct SlowHosts {
    _Atomic guint64 refused;
    _Atomic gint64 published_ns;
    Found next; /* of the thread that adds */
    pthread_mutex_t lock;
    Found now;
};

static void clear_host(gpointer data) { g_free(((SlowHost *)data)->host); }

static Found found_new(void) {
    const Found found = {g_array_new(FALSE, FALSE, sizeof(SlowHost)), g_array_new(FALSE, FALSE, sizeof(HostsStanding))};
    g_array_set_clear_func(found.slow, clear_host);
    return found;
}

static void found_clear(Found *found) {
    g_array_unref(found->slow);
    g_array_unref(found->standing);
}

SlowHosts *slow_hosts_new(void) {
    SlowHosts *hosts = g_new0(SlowHosts, 1);
    pthread_mutex_init(&hosts->lock, NULL);
    hosts->next = found_new();
    hosts->now = found_new();
    return hosts;
}

void slow_hosts_free(SlowHosts *hosts) {
    if (!hosts) return;
    found_clear(&hosts->next);
    found_clear(&hosts->now);
    pthread_mutex_destroy(&hosts->lock);
    g_free(hosts);
}

void slow_hosts_add(SlowHosts *hosts, const SlowHost *host) {
    if (hosts->next.slow->len >= SLOW_HOSTS_MAX) return;
    const SlowHost copy = {g_strdup(host->host), host->class, host->slowdown};
    g_array_append_val(hosts->next.slow, copy);
}

void slow_hosts_add_standing(SlowHosts *hosts, const HostsStanding *standing) {
    g_array_append_vals(hosts->next.standing, standing, 1);
}

void slow_hosts_publish(SlowHosts *hosts, gint64 now_ns) {
    pthread_mutex_lock(&hosts->lock);
    Found before = hosts->now;
    hosts->now = hosts->next;
    pthread_mutex_unlock(&hosts->lock);
    atomic_store(&hosts->published_ns, now_ns);
    found_clear(&before);
    hosts->next = found_new();
}

gint64 slow_hosts_published_ns(SlowHosts *hosts) { return atomic_load(&hosts->published_ns); }

void slow_hosts_refuse(SlowHosts *hosts) {
    atomic_fetch_add(&hosts->refused, 1);
    g_array_set_size(hosts->next.slow, 0);
    g_array_set_size(hosts->next.standing, 0);
}

guint64 slow_hosts_refused(SlowHosts *hosts) { return atomic_load(&hosts->refused); }

void slow_hosts_foreach(SlowHosts *hosts, SlowHostVisit visit, void *arg) {
    pthread_mutex_lock(&hosts->lock);
    for (guint i = 0; i < hosts->now.slow->len; i++) visit(arg, &g_array_index(hosts->now.slow, SlowHost, i));
    pthread_mutex_unlock(&hosts->lock);
}

void slow_hosts_foreach_standing(SlowHosts *hosts, HostsStandingVisit visit, void *arg) {
    pthread_mutex_lock(&hosts->lock);
    for (guint i = 0; i < hosts->now.standing->len; i++)
        visit(arg, &g_array_index(hosts->now.standing, HostsStanding, i));
    pthread_mutex_unlock(&hosts->lock);
}
