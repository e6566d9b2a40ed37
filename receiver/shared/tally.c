#include "receiver/shared/tally.h"

#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"

/* From one look at which rows are shown to the next. */
#define RANK_NS (60 * NS_PER_SEC)
/* The same function in several roles: enough for all but attacks. */
#define CLASSES_KNOWN 4096u

typedef struct Entry {
    guint64 key; /* id, role, class */
    TallyRow row;
    gint64 self_ns;    /* as it is added up: late spans take of it; the row has the most that it was */
    guint64 recent_ns; /* since the last look, and half of what was before */
    gboolean shown;
} Entry;

typedef struct Table {
    GHashTable *by_key; /* &key of an Entry -> Entry; owned */
    GHashTable *others; /* the same, of "(other)": by role and class */
    guint shown, most_shown;
    gboolean steps;
} Table;

typedef struct KnownClass {
    guint32 function;
    guint8 role, class, known;
} KnownClass;

struct Tally {
    pthread_mutex_t lock;
    Table functions, hosts;
    gint64 ranked_ns;
    KnownClass classes[CLASSES_KNOWN]; /* of the one who adds */
};

static void entry_free(gpointer data) {
    Entry *entry = data;
    g_free(entry->row.steps);
    g_free(entry);
}

static void table_init(Table *table, guint most_shown, gboolean steps) {
    *table = (Table){.most_shown = most_shown, .steps = steps};
    table->by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, entry_free);
    table->others = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, entry_free);
}

static void table_clear(Table *table) {
    g_hash_table_unref(table->by_key);
    g_hash_table_unref(table->others);
}

Tally *tally_new(void) {
    Tally *tally = g_new0(Tally, 1);
    pthread_mutex_init(&tally->lock, NULL);
    table_init(&tally->functions, TALLY_FUNCTIONS_SHOWN, TRUE);
    table_init(&tally->hosts, TALLY_HOSTS_SHOWN, FALSE);
    return tally;
}

void tally_free(Tally *tally) {
    if (tally == NULL) return;
    table_clear(&tally->functions);
    table_clear(&tally->hosts);
    pthread_mutex_destroy(&tally->lock);
    g_free(tally);
}

/* ---- rows ---- */

static guint64 entry_key(guint32 id, guint role, guint class) { return (guint64)id << 16 | role << 8 | class; }

static Entry *entry_new(const Table *table, GHashTable *of, const TallyRow *row) {
    Entry *entry = g_new0(Entry, 1);
    entry->key = entry_key(row->id, row->role, row->class);
    entry->row = *row;
    if (table->steps) entry->row.steps = g_new0(TallySteps, 1);
    g_hash_table_insert(of, &entry->key, entry);
    return entry;
}

static Entry *table_other(Table *table, guint role, guint class) {
    const guint64 key = entry_key(0, role, class);
    Entry *entry = g_hash_table_lookup(table->others, &key);
    if (entry != NULL) return entry;
    return entry_new(table, table->others, &(TallyRow){.other = TRUE, .role = (guint8)role, .class = (guint8) class});
}

/* Whom a call counts for: the row itself, or "(other)". */
static Entry *table_row(Table *table, guint32 id, guint role, guint class, gint64 time_ns) {
    const guint64 key = entry_key(id, role, class);
    Entry *entry = g_hash_table_lookup(table->by_key, &key);
    if (entry == NULL && g_hash_table_size(table->by_key) < table->most_shown + TALLY_HIDDEN(table->most_shown)) {
        entry = entry_new(table, table->by_key, &(TallyRow){.id = id, .role = (guint8)role, .class = (guint8) class});
        entry->shown = table->shown < table->most_shown;
        table->shown += entry->shown;
    }
    if (entry == NULL) return table_other(table, role, class);
    entry->recent_ns += (guint64)MAX(time_ns, 0);
    return entry->shown ? entry : table_other(table, role, class);
}

static void add_self(Entry *entry, gint64 self_ns) {
    entry->self_ns += self_ns;
    if (entry->self_ns > 0) entry->row.self_ns = MAX(entry->row.self_ns, (guint64)entry->self_ns);
}

/* ---- which rows are shown ---- */

static gint by_recent(gconstpointer a, gconstpointer b) {
    const Entry *x = *(Entry *const *)a, *y = *(Entry *const *)b;
    if (x->recent_ns != y->recent_ns) return x->recent_ns > y->recent_ns ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void entry_hide(Entry *entry) {
    TallySteps *steps = entry->row.steps;
    if (steps != NULL) memset(steps, 0, sizeof *steps);
    entry->row = (TallyRow){.id = entry->row.id, .role = entry->row.role, .class = entry->row.class, .steps = steps};
    entry->self_ns = 0;
    entry->shown = FALSE;
}

static gboolean is_idle(gpointer key, gpointer value, gpointer arg) {
    (void)key, (void)arg;
    const Entry *entry = value;
    return !entry->shown && entry->recent_ns == 0;
}

static void table_rank(Table *table) {
    if (g_hash_table_size(table->by_key) <= table->most_shown) return; /* all are shown */
    g_autoptr(GPtrArray) shown = g_ptr_array_new(), hidden = g_ptr_array_new();
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, table->by_key);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_ptr_array_add(((Entry *)value)->shown ? shown : hidden, value);
    g_ptr_array_sort(shown, by_recent);
    g_ptr_array_sort(hidden, by_recent);

    for (guint i = 0; i < MIN(hidden->len, shown->len); i++) {
        Entry *comes = g_ptr_array_index(hidden, i), *goes = g_ptr_array_index(shown, shown->len - 1 - i);
        if (comes->recent_ns / 2 <= goes->recent_ns) break;
        entry_hide(goes);
        comes->shown = TRUE;
    }

    g_hash_table_iter_init(&iter, table->by_key);
    while (g_hash_table_iter_next(&iter, NULL, &value)) ((Entry *)value)->recent_ns /= 2;
    g_hash_table_foreach_remove(table->by_key, is_idle, NULL);
}

/* ---- adding ---- */

static guint class_of(Tally *tally, const Lookup *lookup, guint32 function, guint role) {
    KnownClass *known = &tally->classes[(function * ROLE_COUNT + role) % CLASSES_KNOWN];
    if (!known->known || known->function != function || known->role != role)
        *known = (KnownClass){function, (guint8)role,
                              (guint8)work_class(lookup->text(lookup->arg, function, NULL), (Role)role), TRUE};
    return known->class;
}

/* What one host has of each role and class, so that its rows are looked for once. */
typedef struct HostSums {
    gint64 calls[ROLE_COUNT][WORK_CLASSES], self_ns[ROLE_COUNT][WORK_CLASSES];
} HostSums;

static void host_end(Tally *tally, guint32 host, const HostSums *sums) {
    for (guint role = 0; role < ROLE_COUNT; role++) {
        for (guint class = 0; class < WORK_CLASSES; class ++) {
            const gint64 calls = sums->calls[role][class], self_ns = sums->self_ns[role][class];
            if (calls == 0 && self_ns == 0) continue;
            Entry *entry = table_row(&tally->hosts, host, role, class, self_ns);
            entry->row.calls += (guint64)MAX(calls, 0);
            add_self(entry, self_ns);
        }
    }
}

static void add_hosts(Tally *tally, const StoredCalls *calls) {
    const GArray *hosts = calls->counts.hosts;
    for (guint i = 0; i < hosts->len;) {
        const guint32 host = g_array_index(hosts, HostCount, i).host;
        HostSums sums = {0};
        for (; i < hosts->len && g_array_index(hosts, HostCount, i).host == host; i++) {
            const HostCount *count = &g_array_index(hosts, HostCount, i);
            const guint role = MIN(count->role, ROLE_COUNT - 1),
                        class = class_of(tally, calls->lookup, count->function, role);
            sums.calls[role][class] += count->calls;
            sums.self_ns[role][class] += count->self_ns;
        }
        host_end(tally, host, &sums);
    }
}

static void add_functions(Tally *tally, const GArray *functions) {
    for (guint i = 0; i < functions->len; i++) {
        const FunctionCount *count = &g_array_index(functions, FunctionCount, i);
        Entry *entry = table_row(&tally->functions, count->function, count->role, WORK_NONE, count->total_ns);
        entry->row.calls += (guint64)MAX(count->calls, 0);
        entry->row.total_ns += (guint64)MAX(count->total_ns, 0);
        add_self(entry, count->self_ns);
        for (guint s = 0; s < STATS_STEPS; s++) entry->row.steps->calls[s] += count->steps[s];
    }
}

static void add_errors(Tally *tally, const StoredCalls *calls) {
    for (guint i = 0; i < calls->errors->len; i++) {
        const ErrorCall *error = &g_array_index(calls->errors, ErrorCall, i);
        table_row(&tally->functions, error->function, error->role, WORK_NONE, 0)->row.errors++;
        const guint class = class_of(tally, calls->lookup, error->function, error->role);
        table_row(&tally->hosts, error->host, error->role, class, 0)->row.errors++;
    }
}

static void add_examples(Tally *tally, const GArray *examples) {
    for (guint i = 0; i < examples->len; i++) {
        const ExampleCall *call = &g_array_index(examples, ExampleCall, i);
        const guint64 key = entry_key(call->function, call->role, WORK_NONE);
        Entry *entry = g_hash_table_lookup(tally->functions.by_key, &key);
        if (entry == NULL || !entry->shown) continue;
        TallyExample *example = &entry->row.steps->examples[stats_step(call->duration_ns)];
        if (call->begin_ns < example->begin_ns) continue; /* Prometheus takes none that is older than the last */
        *example = (TallyExample){call->trace_id, call->duration_ns, call->begin_ns};
    }
}

void tally_add(Tally *tally, const StoredCalls *calls, gint64 now_ns) {
    pthread_mutex_lock(&tally->lock);
    add_functions(tally, calls->counts.functions);
    add_hosts(tally, calls);
    add_errors(tally, calls);
    add_examples(tally, calls->examples);
    if (tally->ranked_ns == 0) tally->ranked_ns = now_ns;
    if (now_ns - tally->ranked_ns >= RANK_NS) {
        table_rank(&tally->functions);
        table_rank(&tally->hosts);
        tally->ranked_ns = now_ns;
    }
    pthread_mutex_unlock(&tally->lock);
}

/* ---- reading ---- */

static void append_rows(GHashTable *entries, gboolean all, GArray *rows) {
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, entries);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Entry *entry = value;
        if (!all && !entry->shown) continue;
        TallyRow row = entry->row;
        if (row.steps != NULL) row.steps = g_memdup2(row.steps, sizeof *row.steps);
        g_array_append_val(rows, row);
    }
}

static GArray *table_rows(Tally *tally, const Table *table) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(TallyRow));
    pthread_mutex_lock(&tally->lock);
    append_rows(table->by_key, FALSE, rows);
    append_rows(table->others, TRUE, rows);
    pthread_mutex_unlock(&tally->lock);
    return rows;
}

GArray *tally_functions(Tally *tally) { return table_rows(tally, &tally->functions); }

GArray *tally_hosts(Tally *tally) { return table_rows(tally, &tally->hosts); }

void tally_rows_free(GArray *rows) {
    for (guint i = 0; i < rows->len; i++) g_free(g_array_index(rows, TallyRow, i).steps);
    g_array_unref(rows);
}
