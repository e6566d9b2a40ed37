#include <string.h>

#include "analyzer/load/results/result.h"
#include "common/base/clamped.h"
#include "common/base/error.h"

static const char *head_of(GHashTable *head, const char *key) {
    const char *value = g_hash_table_lookup(head, key);
    return value != NULL ? value : "";
}

static gboolean check(const LoadRun *run, GHashTable *other, GError **error) {
    const char *share = head_of(other, "share");
    if (*load_run_head(run, "share") == '\0' || *share == '\0')
        return fail(error, PLUMB_ERROR_INPUT, "only results of runs with --share are merged");
    if (strcmp(load_run_head(run, "meeting"), head_of(other, "meeting")) != 0 ||
        strcmp(load_run_head(run, "plan-hash"), head_of(other, "plan-hash")) != 0)
        return fail(error, PLUMB_ERROR_INPUT, "it is of another run than the first result");
    for (guint i = 0; i < run->hosts->len; i++)
        if (strcmp(head_of(run->hosts->pdata[i], "share"), share) == 0)
            return fail(error, PLUMB_ERROR_INPUT, "the share %s is there twice", share);
    return TRUE;
}

/* The number that the class of this error has in 'run': what is before the colon. */
static guint text_number(LoadRun *run, const char *text) {
    const gsize length = strcspn(text, ":");
    for (guint i = 1; i < run->texts->len; i++) {
        const char *known = run->texts->pdata[i];
        if (known != NULL && strcspn(known, ":") == length && memcmp(known, text, length) == 0) return i;
    }
    if (run->texts->len == 0) g_ptr_array_add(run->texts, NULL);
    g_ptr_array_add(run->texts, g_strdup(text));
    return run->texts->len - 1;
}

static void merge_failures(LoadRun *run, const LoadRun *other) {
    for (guint i = 1; i < other->failures->len; i++) {
        const guint64 n = g_array_index(other->failures, guint64, i);
        if (n == 0) continue;
        const char *text = i < other->texts->len ? other->texts->pdata[i] : NULL;
        const guint number = text_number(run, text != NULL ? text : "unknown");
        if (run->failures->len <= number) g_array_set_size(run->failures, number + 1);
        g_array_index(run->failures, guint64, number) += n;
    }
}

static void merge_kind(LoadKindRun *kind, const LoadKindRun *other) {
    if (other->samples->len > 0) g_array_append_vals(kind->samples, other->samples->data, other->samples->len);
    kind->operations += other->operations;
    kind->failed += other->failed;
    kind->unfinished += other->unfinished;
    kind->bytes = clamped_add(kind->bytes, other->bytes);
}

static void merge_slowest(GArray *slowest, const GArray *other) {
    if (other->len > 0) g_array_append_vals(slowest, other->data, other->len);
    g_array_sort(slowest, load_slow_compare);
    if (slowest->len > LOAD_SLOWEST) g_array_set_size(slowest, LOAD_SLOWEST);
}

gboolean load_run_merge(LoadRun *run, const LoadRun *other, GError **error) {
    if (run->hosts == NULL) {
        run->hosts = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
        g_ptr_array_add(run->hosts, g_hash_table_ref(run->head));
    }
    if (!check(run, other->head, error)) return FALSE;

    g_ptr_array_add(run->hosts, g_hash_table_ref(other->head));
    for (guint kind = 0; kind < LOAD_KINDS; kind++) merge_kind(&run->kinds[kind], &other->kinds[kind]);
    merge_failures(run, other);
    merge_slowest(run->slowest, other->slowest);
    if (run->end == RUN_DONE) run->end = other->end;
    run->end_ns = MAX(run->end_ns, other->end_ns);
    run->handed_on += other->handed_on;
    run->in_warm_up += other->in_warm_up;
    run->warm_up_seen += other->warm_up_seen;
    run->seen += other->seen;
    run->records += other->records;
    run->damaged += other->damaged;
    return TRUE;
}
