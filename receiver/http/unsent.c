#include "receiver/http/unsent.h"

#include <stdatomic.h>

struct UnsentBody {
    GBytes *body;
    void *owner;
    GList link; /* in Unsent.waiting */
};

struct Unsent {
    AllowanceBudget *budget;
    GQueue waiting;      /* UnsentBody, oldest first */
    GHashTable *readers; /* GBytes -> how many wait for it */
    gsize size_bytes;    /* of these */
};

Unsent *unsent_new(AllowanceBudget *budget) {
    Unsent *unsent = g_new0(Unsent, 1);
    unsent->budget = budget;
    unsent->readers = g_hash_table_new(NULL, NULL);
    g_queue_init(&unsent->waiting);
    return unsent;
}

void unsent_free(Unsent *unsent) {
    if (!unsent) return;
    g_hash_table_unref(unsent->readers);
    g_free(unsent);
}

static void count(Unsent *unsent, gssize bytes) {
    unsent->size_bytes += (gsize)bytes;
    allowance_budget_add(unsent->budget, bytes);
}

static void set_readers(Unsent *unsent, GBytes *body, int more) {
    const int n = GPOINTER_TO_INT(g_hash_table_lookup(unsent->readers, body)) + more;
    if (n == 0) {
        g_hash_table_remove(unsent->readers, body);
        count(unsent, -(gssize)g_bytes_get_size(body));
        return;
    }
    if (n == 1 && more > 0) count(unsent, (gssize)g_bytes_get_size(body));
    g_hash_table_replace(unsent->readers, body, GINT_TO_POINTER(n));
}

UnsentBody *unsent_add(Unsent *unsent, GBytes *bytes, void *owner) {
    UnsentBody *body = g_new0(UnsentBody, 1);
    body->body = g_bytes_ref(bytes);
    body->owner = owner;
    body->link.data = body;
    g_queue_push_tail_link(&unsent->waiting, &body->link);
    set_readers(unsent, bytes, 1);
    return body;
}

void unsent_remove(Unsent *unsent, UnsentBody *body) {
    if (!body) return;
    g_queue_unlink(&unsent->waiting, &body->link);
    set_readers(unsent, body->body, -1);
    g_bytes_unref(body->body);
    g_free(body);
}

gsize unsent_bytes(const Unsent *unsent) { return unsent->size_bytes; }

gboolean unsent_is_over(const Unsent *unsent) {
    const gsize limit = atomic_load(&unsent->budget->limit_bytes);
    return unsent->size_bytes > (limit == 0 ? UNSENT_MAX_BYTES : MIN(limit / 2, UNSENT_MAX_BYTES));
}

void *unsent_oldest(const Unsent *unsent) {
    const UnsentBody *oldest = g_queue_peek_head((GQueue *)&unsent->waiting);
    return oldest == NULL ? NULL : oldest->owner;
}
