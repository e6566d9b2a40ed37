#include "receiver/shared/senders.h"

#include <pthread.h>
#include <string.h>

/* That may come while all are copied. */
#define MORE_SENDERS 64u

struct SenderEntry {
    SenderInfo info;
    guint held;   /* batches on their way */
    GList recent; /* in Senders.recent */
};

struct Senders {
    pthread_mutex_t lock;
    GHashTable *by_name; /* SenderInfo.name -> SenderEntry; without 'others' */
    GQueue recent;       /* SenderEntry, heard of longest ago first */
    SenderEntry others;
};

/* Its texts are GRefStrings. */
static void info_clear(SenderInfo *info) {
    for (guint32 i = 0; i < info->n_drops; i++) g_ref_string_release(info->drops[i].reason);
    g_ref_string_release(info->name);
}

static SenderInfo info_copy(const SenderInfo *info) {
    SenderInfo copy = *info;
    for (guint32 i = 0; i < copy.n_drops; i++) g_ref_string_acquire(copy.drops[i].reason);
    g_ref_string_acquire(copy.name);
    return copy;
}

static void entry_free(void *data) {
    SenderEntry *entry = data;
    info_clear(&entry->info);
    g_free(entry);
}

Senders *senders_new(void) {
    Senders *senders = g_new0(Senders, 1);
    pthread_mutex_init(&senders->lock, NULL);
    senders->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entry_free);
    g_queue_init(&senders->recent);
    senders->others.info.name = g_ref_string_new("");
    return senders;
}

void senders_free(Senders *senders) {
    if (!senders) return;
    g_hash_table_unref(senders->by_name);
    info_clear(&senders->others.info);
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

/* The total of a reason; NULL when there are too many reasons. */
static SenderDrop *drop_of(SenderInfo *info, const char *reason) {
    for (guint32 i = 0; i < info->n_drops; i++)
        if (strcmp(info->drops[i].reason, reason) == 0) return &info->drops[i];
    if (info->n_drops == SENDER_REASONS_MAX) return NULL;
    info->drops[info->n_drops] = (SenderDrop){g_ref_string_new(reason), 0};
    return &info->drops[info->n_drops++];
}

/* Its totals are final as far as we know: they are added to the others'. */
static void fold(SenderInfo *into, const SenderInfo *from) {
    into->spans_sent += from->spans_sent;
    into->repeated += from->repeated;
    into->last_seen_ns = MAX(into->last_seen_ns, from->last_seen_ns);
    into->received += from->received;
    for (guint i = 0; i < PACK_RESULT_COUNT; i++) into->refused[i] += from->refused[i];
    for (guint32 i = 0; i < from->n_drops; i++) {
        SenderDrop *drop = drop_of(into, from->drops[i].reason);
        if (drop) drop->spans += from->drops[i].spans;
    }
}

/* FALSE: each is in use. */
static gboolean evict_oldest(Senders *senders) {
    GList *oldest = senders->recent.head;
    while (oldest && ((SenderEntry *)oldest->data)->held > 0) oldest = oldest->next;
    if (!oldest) return FALSE;
    SenderEntry *entry = oldest->data;
    fold(&senders->others.info, &entry->info);
    g_queue_unlink(&senders->recent, oldest);
    g_hash_table_remove(senders->by_name, entry->info.name);
    return TRUE;
}

static SenderEntry *entry_of(Senders *senders, const char *name) {
    if (name[0] == '\0') return &senders->others;
    SenderEntry *entry = g_hash_table_lookup(senders->by_name, name);
    if (entry) {
        g_queue_unlink(&senders->recent, &entry->recent);
    } else {
        if (g_hash_table_size(senders->by_name) >= SENDERS_MAX && !evict_oldest(senders)) return &senders->others;
        entry = g_new0(SenderEntry, 1);
        entry->info.name = g_ref_string_new(name);
        entry->recent.data = entry;
        g_hash_table_insert(senders->by_name, entry->info.name, entry);
    }
    g_queue_push_tail_link(&senders->recent, &entry->recent);
    return entry;
}

/* Totals only grow; a repeated or overtaken batch must not turn them back. */
static void note_said(SenderInfo *info, const BatchSender *said) {
    if (said->sequence > 0 && said->sequence <= info->sequence) info->repeated++;
    if (said->sequence >= info->sequence) {
        info->sequence = said->sequence;
        info->spans_queued = said->spans_queued;
    }
    info->spans_sent = MAX(info->spans_sent, said->spans_sent);
    for (guint i = 0; said->drops && i < said->drops->len; i++) {
        const BatchDrop *dropped = &g_array_index(said->drops, BatchDrop, i);
        char reason[SENDER_NAME_MAX_BYTES];
        cut_text(dropped->reason, reason, sizeof reason);
        SenderDrop *drop = drop_of(info, reason);
        if (drop) drop->spans = MAX(drop->spans, dropped->spans);
    }
}

SenderEntry *senders_note(Senders *senders, const BatchSender *said, gint64 now_ns) {
    char name[SENDER_NAME_MAX_BYTES];
    cut_text(said->sender, name, sizeof name);
    pthread_mutex_lock(&senders->lock);
    SenderEntry *entry = entry_of(senders, name);
    entry->info.last_seen_ns = now_ns;
    entry->held++;
    if (entry != &senders->others) note_said(&entry->info, said);
    pthread_mutex_unlock(&senders->lock);
    return entry;
}

void senders_took(Senders *senders, SenderEntry *entry, guint64 received, const guint32 refused[PACK_RESULT_COUNT]) {
    pthread_mutex_lock(&senders->lock);
    entry->held--;
    entry->info.received += received;
    for (guint i = 0; refused && i < PACK_RESULT_COUNT; i++) entry->info.refused[i] += refused[i];
    pthread_mutex_unlock(&senders->lock);
}

guint senders_count(Senders *senders) {
    pthread_mutex_lock(&senders->lock);
    guint n = g_hash_table_size(senders->by_name);
    pthread_mutex_unlock(&senders->lock);
    return n;
}

static gint compare_names(gconstpointer a, gconstpointer b) {
    return strcmp(((const SenderInfo *)a)->name, ((const SenderInfo *)b)->name);
}

static void clear_info(gpointer info) { info_clear(info); }

/* Room for all, the others' and some that come meanwhile, in pages that are there: under the lock no memory is
 * sought. */
static GArray *room_for_all(Senders *senders) {
    GArray *infos = g_array_new(FALSE, TRUE, sizeof(SenderInfo));
    g_array_set_size(infos, senders_count(senders) + 1 + MORE_SENDERS);
    g_array_set_size(infos, 0);
    g_array_set_clear_func(infos, clear_info); /* of those that are added */
    return infos;
}

/* All as they are at one moment, in any order. */
static GArray *copy_all(Senders *senders) {
    GArray *infos = room_for_all(senders);
    pthread_mutex_lock(&senders->lock);
    GHashTableIter iter;
    gpointer entry;
    if (senders->others.info.last_seen_ns > 0) {
        const SenderInfo others = info_copy(&senders->others.info);
        g_array_append_val(infos, others);
    }
    g_hash_table_iter_init(&iter, senders->by_name);
    while (g_hash_table_iter_next(&iter, NULL, &entry)) {
        const SenderInfo info = info_copy(&((SenderEntry *)entry)->info);
        g_array_append_val(infos, info);
    }
    pthread_mutex_unlock(&senders->lock);
    return infos;
}

/* Sorted and visited without the lock: the threads that take batches in want it, and a thread that answers may be one
 * that gives way to all others, in the middle of its answer. */
void senders_foreach(Senders *senders, void (*visit)(void *arg, const SenderInfo *info), void *arg) {
    g_autoptr(GArray) infos = copy_all(senders);
    g_array_sort(infos, compare_names);
    for (guint i = 0; i < infos->len; i++) visit(arg, &g_array_index(infos, SenderInfo, i));
}
