#include "receiver/traces/needs.h"

#include "receiver/journal/journal.h"

typedef struct NeedsEntry {
    guint64 number;
    guint64 traces;
} NeedsEntry;

void needs_init(Needs *needs) { needs->entries = g_array_new(FALSE, FALSE, sizeof(NeedsEntry)); }

void needs_clear(Needs *needs) { g_clear_pointer(&needs->entries, g_array_unref); }

/* From the end, where the segments of now are: position of the last entry <= number, plus one. */
static guint position_after(const Needs *needs, guint64 number) {
    guint at = needs->entries->len;
    while (at > 0 && g_array_index(needs->entries, NeedsEntry, at - 1).number > number) at--;
    return at;
}

void needs_add(Needs *needs, guint64 number) {
    if (number == JOURNAL_NONE) return;
    guint at = position_after(needs, number);
    NeedsEntry *before = at > 0 ? &g_array_index(needs->entries, NeedsEntry, at - 1) : NULL;
    if (before && before->number == number) {
        before->traces++;
        return;
    }
    NeedsEntry entry = {number, 1};
    g_array_insert_val(needs->entries, at, entry);
}

void needs_remove(Needs *needs, guint64 number) {
    if (number == JOURNAL_NONE) return;
    guint at = position_after(needs, number);
    g_assert(at > 0);
    NeedsEntry *entry = &g_array_index(needs->entries, NeedsEntry, at - 1);
    g_assert(entry->number == number);
    if (--entry->traces == 0) g_array_remove_index(needs->entries, at - 1);
}

guint64 needs_oldest(const Needs *needs) {
    return needs->entries->len == 0 ? JOURNAL_NONE : g_array_index(needs->entries, NeedsEntry, 0).number;
}
