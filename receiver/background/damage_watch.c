#include "receiver/background/damage_watch.h"

#include "receiver/shared/log.h"

typedef struct Look {
    DamageWatch *watch;
    GHashTable *seen;
} Look;

static void tell(void *arg, const StoreDamage *damage) {
    const Look *look = arg;
    g_autofree char *text = store_damage_text(damage);
    g_hash_table_add(look->seen, g_strdup(text));
    if (!g_hash_table_add(look->watch->told, g_strdup(text))) return;
    log_message(LOG_LEVEL_ERROR,
                "%s. RocksDB said: %s. docs/operate.md, \"A table that cannot be read\", says what to do", text,
                damage->why);
}

void damage_watch_look(DamageWatch *watch, Store *store) {
    if (!watch->told) watch->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Look look = {watch, seen};
    store_damages(store, tell, &look);

    GHashTableIter iter;
    void *text;
    g_hash_table_iter_init(&iter, watch->told);
    while (g_hash_table_iter_next(&iter, &text, NULL)) {
        if (g_hash_table_contains(seen, text)) continue;
        log_message(LOG_LEVEL_NOTICE, "no more: %s", (char *)text);
        g_hash_table_iter_remove(&iter);
    }
}

void damage_watch_clear(DamageWatch *watch) { g_clear_pointer(&watch->told, g_hash_table_unref); }
