#include "receiver/net/strangers.h"

#include <sys/socket.h>

#include "common/base/clock.h"

/* A handshake or a login that got no further for so long hangs. */
#define HANGS_NS (2 * NS_PER_SEC)
/* So many addresses, and so many connections of one, are looked at: those that are there for longest. */
#define LOOK_MOST 16

/* The strangers of one address, in the order in which they came, or said their first word. */
struct StrangerGroup {
    GList link; /* among groups with as many strangers */
    const void *address;
    GQueue silent, speaking; /* Stranger */
};

struct Strangers {
    GHashTable *groups; /* StrangerGroup.address -> StrangerGroup */
    GArray *by_size;    /* GQueue of StrangerGroup: at n those of n strangers, which were so for longest first */
    guint most;         /* the largest size that there is; 0: none */
    guint count;
};

Strangers *strangers_new(void) {
    Strangers *strangers = g_new0(Strangers, 1);
    strangers->groups = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    strangers->by_size = g_array_new(FALSE, TRUE, sizeof(GQueue));
    return strangers;
}

void strangers_free(Strangers *strangers) {
    if (!strangers) return;
    g_hash_table_unref(strangers->groups);
    g_array_unref(strangers->by_size);
    g_free(strangers);
}

guint strangers_count(const Strangers *strangers) { return strangers->count; }

static guint size_of(const StrangerGroup *group) { return group->silent.length + group->speaking.length; }

static GQueue *of_size(const Strangers *strangers, guint size) {
    return &g_array_index(strangers->by_size, GQueue, size);
}

/* After its size has changed from 'before'. */
static void move(Strangers *strangers, StrangerGroup *group, guint before) {
    const guint size = size_of(group);
    if (size >= strangers->by_size->len) g_array_set_size(strangers->by_size, size + 1);
    if (before > 0) g_queue_unlink(of_size(strangers, before), &group->link);
    if (size > 0) g_queue_push_tail_link(of_size(strangers, size), &group->link);
    strangers->most = MAX(strangers->most, size);
    while (strangers->most > 0 && of_size(strangers, strangers->most)->length == 0) strangers->most--;
    if (size == 0) g_hash_table_remove(strangers->groups, group->address);
}

void strangers_add(Strangers *strangers, Stranger *stranger, const void *address) {
    StrangerGroup *group = g_hash_table_lookup(strangers->groups, address);
    if (group == NULL) {
        group = g_new0(StrangerGroup, 1);
        group->address = address;
        group->link.data = group;
        g_hash_table_insert(strangers->groups, (void *)address, group);
    }

    const guint before = size_of(group);
    stranger->group = group;
    stranger->link = (GList){.data = stranger};
    g_queue_push_tail_link(stranger->spoke ? &group->speaking : &group->silent, &stranger->link);
    strangers->count++;
    move(strangers, group, before);
}

void strangers_remove(Strangers *strangers, Stranger *stranger) {
    StrangerGroup *group = stranger->group;
    if (group == NULL) return;
    const guint before = size_of(group);
    g_queue_unlink(stranger->spoke ? &group->speaking : &group->silent, &stranger->link);
    stranger->group = NULL;
    strangers->count--;
    move(strangers, group, before);
}

void strangers_spoke(Stranger *stranger) {
    if (stranger->group != NULL && !stranger->spoke) {
        g_queue_unlink(&stranger->group->silent, &stranger->link);
        g_queue_push_tail_link(&stranger->group->speaking, &stranger->link);
    }
    stranger->spoke = TRUE;
}

/* Has it not got further for long? Not when it waits for us: what it has sent is not read yet. */
static gboolean hangs(const Stranger *stranger, gint64 now_ns) {
    guint8 first;
    return now_ns - stranger->got_on_ns > HANGS_NS && recv(stranger->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static Stranger *first_that_hangs(const GQueue *queue, gint64 now_ns) {
    int looked = 0;
    for (const GList *at = queue->head; at != NULL && looked < LOOK_MOST; at = at->next, looked++)
        if (hangs(at->data, now_ns)) return at->data;
    return NULL;
}

static Stranger *hanging_of(const StrangerGroup *group, gint64 now_ns) {
    Stranger *speaking = first_that_hangs(&group->speaking, now_ns), *silent = first_that_hangs(&group->silent, now_ns);
    if (speaking == NULL || silent == NULL) return speaking != NULL ? speaking : silent;
    return speaking->got_on_ns < silent->got_on_ns ? speaking : silent;
}

Stranger *strangers_who_gives_way(const Strangers *strangers, gint64 now_ns) {
    if (strangers->most == 0) return NULL;
    const GQueue *groups = of_size(strangers, strangers->most);
    Stranger *silent = NULL;
    int looked = 0;
    for (const GList *at = groups->head; at != NULL && looked < LOOK_MOST; at = at->next, looked++) {
        const StrangerGroup *group = at->data;
        Stranger *hanging = hanging_of(group, now_ns);
        if (hanging != NULL) return hanging;
        if (silent == NULL) silent = g_queue_peek_head((GQueue *)&group->silent);
    }
    if (silent != NULL) return silent;

    const StrangerGroup *newest = groups->tail->data;
    return newest->speaking.length > 0 ? newest->speaking.tail->data : newest->silent.tail->data;
}
