#include "receiver/senders.h"

#include <pthread.h>
#include <string.h>

struct Senders {
    pthread_mutex_t lock;
    GHashTable *by_name; /* SenderInfo.name -> SenderInfo */
};

static void info_free(void *data) {
    SenderInfo *info = data;
    for (guint32 i = 0; i < info->n_drops; i++) g_free(info->drops[i].reason);
    g_free(info->name);
    g_free(info);
}

Senders *senders_new(void) {
    Senders *senders = g_new0(Senders, 1);
    pthread_mutex_init(&senders->lock, NULL);
    senders->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, info_free);
    return senders;
}

void senders_free(Senders *senders) {
    if (!senders) return;
    g_hash_table_unref(senders->by_name);
    pthread_mutex_destroy(&senders->lock);
    g_free(senders);
}

/* A zero-terminated copy, cut to size_bytes - 1 bytes before the start of a character. */
static void cut_text(BatchString text, char *out, gsize size_bytes) {
    gsize length = MIN((gsize)text.length, size_bytes - 1);
    if (length < text.length)
        while (length > 0 && ((guchar)text.data[length] & 0xc0) == 0x80) length--;
    if (length > 0) memcpy(out, text.data, length);
    out[length] = '\0';
}

static void evict_oldest(Senders *senders) {
    SenderInfo *oldest = NULL, *info;
    GHashTableIter iter;
    g_hash_table_iter_init(&iter, senders->by_name);
    while (g_hash_table_iter_next(&iter, NULL, (void **)&info))
        if (!oldest || info->last_seen_ns < oldest->last_seen_ns) oldest = info;
    if (oldest) g_hash_table_remove(senders->by_name, oldest->name);
}

static SenderInfo *sender_of(Senders *senders, const char *name) {
    SenderInfo *info = g_hash_table_lookup(senders->by_name, name);
    if (info) return info;
    if (g_hash_table_size(senders->by_name) >= SENDERS_MAX) evict_oldest(senders);
    info = g_new0(SenderInfo, 1);
    info->name = g_strdup(name);
    g_hash_table_insert(senders->by_name, info->name, info);
    return info;
}

static void note_drop(SenderInfo *info, const BatchDrop *drop) {
    char reason[SENDER_NAME_MAX_BYTES];
    cut_text(drop->reason, reason, sizeof reason);
    for (guint32 i = 0; i < info->n_drops; i++)
        if (strcmp(info->drops[i].reason, reason) == 0) {
            info->drops[i].spans = MAX(info->drops[i].spans, drop->spans);
            return;
        }
    if (info->n_drops == SENDER_REASONS_MAX) return;
    info->drops[info->n_drops++] = (SenderDrop){g_strdup(reason), drop->spans};
}

void senders_note(Senders *senders, const BatchSender *said, gint64 now_ns) {
    if (said->sender.length == 0) return;
    char name[SENDER_NAME_MAX_BYTES];
    cut_text(said->sender, name, sizeof name);
    pthread_mutex_lock(&senders->lock);
    SenderInfo *info = sender_of(senders, name);
    info->last_seen_ns = now_ns;
    if (said->sequence > 0 && said->sequence <= info->sequence) info->repeated++;
    /* Totals only grow; a repeated or overtaken batch must not turn them back. */
    if (said->sequence >= info->sequence) {
        info->sequence = said->sequence;
        info->spans_queued = said->spans_queued;
    }
    info->spans_sent = MAX(info->spans_sent, said->spans_sent);
    for (guint i = 0; said->drops && i < said->drops->len; i++)
        note_drop(info, &g_array_index(said->drops, BatchDrop, i));
    pthread_mutex_unlock(&senders->lock);
}

guint senders_count(Senders *senders) {
    pthread_mutex_lock(&senders->lock);
    guint n = g_hash_table_size(senders->by_name);
    pthread_mutex_unlock(&senders->lock);
    return n;
}

static gint compare_names(gconstpointer a, gconstpointer b) { return strcmp(a, b); }

void senders_foreach(Senders *senders, void (*visit)(void *arg, const SenderInfo *info), void *arg) {
    pthread_mutex_lock(&senders->lock);
    GList *names = g_list_sort(g_hash_table_get_keys(senders->by_name), compare_names);
    for (GList *at = names; at; at = at->next) visit(arg, g_hash_table_lookup(senders->by_name, at->data));
    g_list_free(names);
    pthread_mutex_unlock(&senders->lock);
}
