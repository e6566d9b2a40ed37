#include "receiver/shared/slow_hosts.h"

#include <pthread.h>
#include <stdatomic.h>

struct SlowHosts {
    _Atomic guint64 refused;
    GArray *next; /* SlowHost; of the thread that adds */
    pthread_mutex_t lock;
    GArray *now; /* SlowHost */
};

static void clear_host(gpointer data) { g_free(((SlowHost *)data)->host); }

static GArray *list_new(void) {
    GArray *list = g_array_new(FALSE, FALSE, sizeof(SlowHost));
    g_array_set_clear_func(list, clear_host);
    return list;
}

SlowHosts *slow_hosts_new(void) {
    SlowHosts *hosts = g_new0(SlowHosts, 1);
    pthread_mutex_init(&hosts->lock, NULL);
    hosts->next = list_new();
    hosts->now = list_new();
    return hosts;
}

void slow_hosts_free(SlowHosts *hosts) {
    if (!hosts) return;
    g_array_unref(hosts->next);
    g_array_unref(hosts->now);
    pthread_mutex_destroy(&hosts->lock);
    g_free(hosts);
}

void slow_hosts_add(SlowHosts *hosts, const SlowHost *host) {
    if (hosts->next->len >= SLOW_HOSTS_MAX) return;
    const SlowHost copy = {g_strdup(host->host), host->class, host->slowdown};
    g_array_append_val(hosts->next, copy);
}

void slow_hosts_publish(SlowHosts *hosts) {
    pthread_mutex_lock(&hosts->lock);
    GArray *before = hosts->now;
    hosts->now = hosts->next;
    pthread_mutex_unlock(&hosts->lock);
    g_array_unref(before);
    hosts->next = list_new();
}

void slow_hosts_refuse(SlowHosts *hosts) {
    atomic_fetch_add(&hosts->refused, 1);
    g_array_set_size(hosts->next, 0);
}

guint64 slow_hosts_refused(SlowHosts *hosts) { return atomic_load(&hosts->refused); }

void slow_hosts_foreach(SlowHosts *hosts, SlowHostVisit visit, void *arg) {
    pthread_mutex_lock(&hosts->lock);
    for (guint i = 0; i < hosts->now->len; i++) visit(arg, &g_array_index(hosts->now, SlowHost, i));
    pthread_mutex_unlock(&hosts->lock);
}
