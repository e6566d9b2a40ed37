#include "analyzer/query/spark/straggler_watch.h"

#include <string.h>

#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* So long may one application take. */
#define APP_TIMEOUT_NS (10 * NS_PER_SEC)
/* Traces of its tasks come, and are linked to them, after its log. */
#define SETTLED_MS (15 * 60 * 1000)

typedef struct Seen {
    gint64 written_ms, looked_ms;
    gboolean wanted; /* by the look under way */
    StragglerCounts counts;
} Seen;

struct StragglerWatch {
    Archive *archive;
    GHashTable *apps; /* key -> Seen; at most STRAGGLER_WATCH_APPS */
};

StragglerWatch *straggler_watch_new(Archive *archive) {
    StragglerWatch *watch = g_new0(StragglerWatch, 1);
    watch->archive = archive;
    watch->apps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return watch;
}

void straggler_watch_free(StragglerWatch *watch) {
    if (watch == NULL) return;
    g_hash_table_unref(watch->apps);
    g_free(watch);
}

static void count_app(const AppCauses *causes, StragglerCounts *counts) {
    counts->apps = 1;
    counts->tasks = causes->tasks->table->count;
    counts->unexplained = causes->stragglers->count;
    for (guint i = 0; i < causes->causes->len; i++) {
        const StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        if (!cause_known(cause)) continue;
        const Evidence *evidence = cause->start ? NULL : &g_array_index(causes->evidence, Evidence, cause->evidence);
        const FeatureTopic topic =
            evidence != NULL ? task_feature(causes->tasks->table, evidence->feature)->topic : TOPIC_JVM;
        counts->stragglers[topic]++;
        counts->unexplained--;
    }
}

static gboolean look_at(const StragglerWatch *watch, const char *app, gint64 now_ns, StragglerCounts *counts,
                        GError **error) {
    g_autoptr(QueryParams) params = query_params_new();
    const Asked asked = {watch->archive, params, now_ns, ANSWER_ROWS_MAX, NULL, NULL};
    BigRootsOptions options;
    if (!asked_bigroots(&asked, &options, error)) return FALSE;
    g_autoptr(AppCauses) causes = app_causes_load(&asked, app, &options, error);
    if (causes == NULL || !allowance_check(error)) return FALSE;
    count_app(causes, counts);
    return TRUE;
}

static gboolean is_for_lack(const GError *error) {
    return g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT) ||
           g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
}

static gboolean renew(StragglerWatch *watch, AllowanceBudget *budget, const AppEntry *entry, gint64 now_ns,
                      GError **error) {
    const gint64 now_ms = now_ns / NS_PER_MS;
    Seen *seen = g_hash_table_lookup(watch->apps, entry->key);
    if (seen != NULL) seen->wanted = TRUE;
    if (seen != NULL && seen->written_ms == entry->written_ms && seen->looked_ms >= entry->written_ms + SETTLED_MS)
        return TRUE;

    Allowance allowance = {.budget = budget, .timeout_ns = APP_TIMEOUT_NS};
    StragglerCounts counts = {0};
    g_autoptr(GError) why = NULL;
    allowance_begin(&allowance);
    const gboolean known = look_at(watch, entry->key, now_ns, &counts, &why);
    allowance_end();
    if (!known && !is_for_lack(why)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }

    if (!known) counts = (StragglerCounts){.refused = 1};
    const Seen now = {entry->written_ms, now_ms, TRUE, counts};
    g_hash_table_replace(watch->apps, g_strdup(entry->key), g_memdup2(&now, sizeof now));
    return TRUE;
}

static void add_counts(StragglerCounts *into, const StragglerCounts *counts) {
    into->apps += counts->apps;
    into->refused += counts->refused;
    into->tasks += counts->tasks;
    into->unexplained += counts->unexplained;
    for (guint i = 0; i < TOPIC_COUNT; i++) into->stragglers[i] += counts->stragglers[i];
}

gboolean straggler_watch_look(StragglerWatch *watch, AllowanceBudget *budget, gint64 now_ns, StragglerCounts *counts,
                              GError **error) {
    g_autoptr(AppList) apps = app_list_load(watch->archive, error);
    if (apps == NULL) return FALSE;
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, watch->apps);
    while (g_hash_table_iter_next(&iter, NULL, &value)) ((Seen *)value)->wanted = FALSE;

    guint n = 0;
    for (guint i = 0; i < apps->entries->len && n < STRAGGLER_WATCH_APPS; i++) {
        const AppEntry *entry = &g_array_index(apps->entries, AppEntry, i);
        if (entry->written_ms < now_ns / NS_PER_MS - STRAGGLER_WATCH_MS) continue;
        if (!renew(watch, budget, entry, now_ns, error)) return FALSE;
        n++;
    }

    *counts = (StragglerCounts){0};
    g_hash_table_iter_init(&iter, watch->apps);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Seen *seen = value;
        if (seen->wanted)
            add_counts(counts, &seen->counts);
        else
            g_hash_table_iter_remove(&iter);
    }
    return TRUE;
}
