#include "receiver/traces/unflushed.h"

#include "receiver/journal/journal.h"

typedef struct UnflushedGroup {
    guint64 mark, segment;
    gint64 since_ns;
} UnflushedGroup;

void unflushed_init(Unflushed *unflushed) {
    pthread_mutex_init(&unflushed->lock, NULL);
    unflushed->groups = g_array_new(FALSE, FALSE, sizeof(UnflushedGroup));
}

void unflushed_clear(Unflushed *unflushed) {
    g_clear_pointer(&unflushed->groups, g_array_unref);
    pthread_mutex_destroy(&unflushed->lock);
}

void unflushed_add(Unflushed *unflushed, guint64 mark, guint64 segment, gint64 now_ns) {
    if (segment == JOURNAL_NONE) return;
    pthread_mutex_lock(&unflushed->lock);
    const UnflushedGroup group = {mark, segment, now_ns};
    g_array_append_val(unflushed->groups, group);
    pthread_mutex_unlock(&unflushed->lock);
}

guint64 unflushed_needs(Unflushed *unflushed, guint64 reached_mark) {
    pthread_mutex_lock(&unflushed->lock);
    const UnflushedGroup *groups = (const UnflushedGroup *)(gconstpointer)unflushed->groups->data;
    guint n = unflushed->groups->len, reached = 0;
    while (reached < n && groups[reached].mark <= reached_mark) reached++;
    guint64 oldest = JOURNAL_NONE;
    for (guint i = reached; i < n; i++) oldest = MIN(oldest, groups[i].segment);
    if (reached > 0) g_array_remove_range(unflushed->groups, 0, reached);
    pthread_mutex_unlock(&unflushed->lock);
    return oldest;
}

gint64 unflushed_since_ns(Unflushed *unflushed) {
    pthread_mutex_lock(&unflushed->lock);
    gint64 since_ns = unflushed->groups->len > 0 ? g_array_index(unflushed->groups, UnflushedGroup, 0).since_ns : 0;
    pthread_mutex_unlock(&unflushed->lock);
    return since_ns;
}
