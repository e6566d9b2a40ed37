#include "analyzer/query/nodes/holders.h"

#include <string.h>

#include "analyzer/query/shared/trace_view.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

typedef struct Held {
    gint64 ns[2];      /* of the read lock, of the write lock */
    gint64 longest_ns; /* at once */
    guint64 trace;
} Held;

typedef struct Holders {
    const Asked *asked;
    guint32 host;
    gint64 begin_ns, end_ns;
    guint32 functions[2]; /* of the read lock, of the write lock: dictionary ids */
    GHashTable *held;     /* the caller's name -> Held */
} Holders;

static gboolean is_there(const Holders *holders, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(holders->asked->archive);
    Role role;
    guint32 host;
    lookup->process(lookup->arg, span->tracer, &role, &host);
    return host == holders->host && span->begin_ns < holders->end_ns &&
           span->begin_ns + MAX(span->duration_ns, 0) > holders->begin_ns;
}

static void add_call(Holders *holders, guint64 trace, const SpanRec *span, const SpanRec *caller, guint lock) {
    Held *held = g_hash_table_lookup(holders->held, GUINT_TO_POINTER(caller->name));
    if (!held) {
        held = g_new0(Held, 1);
        g_hash_table_insert(holders->held, GUINT_TO_POINTER(caller->name), held);
    }
    const gint64 ns = MAX(span->duration_ns, 0);
    held->ns[lock] += ns;
    if (ns <= held->longest_ns) return;
    held->longest_ns = ns;
    held->trace = trace;
}

static gboolean add_trace(Holders *holders, guint64 trace, guint lock, GError **error) {
    gboolean gone;
    g_autoptr(TraceView) view = trace_view_load_found(holders->asked->archive, trace, &gone, error);
    if (!view) return gone;
    const CallTree *tree = view->tree;
    for (guint32 i = 0; i < tree->n_nodes && allowance_goes_on(); i++) {
        const SpanRec *span = tree->span[i], *caller = span ? tree->span[tree->parent[i]] : NULL;
        if (!caller || span->name != holders->functions[lock] || !is_there(holders, span)) continue;
        add_call(holders, trace, span, caller, lock);
    }
    return TRUE;
}

static gboolean add_traces(Holders *holders, guint lock, GError **error) {
    if (holders->functions[lock] == 0) return TRUE;
    const ClusterJob job = {holders->functions[lock], ROLE_NAMENODE, -1};
    const ExampleOf of = {&job, holders->host, holders->begin_ns + NS_PER_MINUTE, FALSE};
    json_auto_t *found = example_traces(holders->asked, &of, error);
    if (!found) return FALSE;
    gsize i;
    json_t *row;
    json_array_foreach(json_object_get(found, "traces"), i, row) {
        if (!add_trace(holders, example_trace_id(row), lock, error)) return FALSE;
    }
    return TRUE;
}

/* Of equals the first by name. */
static void choose(const Holders *holders, Holder *holder) {
    Dict *dict = archive_dict(holders->asked->archive);
    GHashTableIter iter;
    gpointer name, value;
    g_hash_table_iter_init(&iter, holders->held);
    while (g_hash_table_iter_next(&iter, &name, &value)) {
        const Held *held = value;
        const gint64 ns = held->ns[0] + held->ns[1];
        const guint32 function = GPOINTER_TO_UINT(name);
        if (ns < holder->held_ns) continue;
        if (ns == holder->held_ns && holder->function != 0 &&
            strcmp(dict_text(dict, function, NULL), dict_text(dict, holder->function, NULL)) > 0)
            continue;
        *holder = (Holder){function, ns, held->ns[1] >= held->ns[0], held->trace};
    }
}

gboolean holder_find(const Asked *asked, guint32 host, gint64 minute_ns, Holder *holder, GError **error) {
    static const char *const names[] = {"FSNamesystemLock#readHeld", "FSNamesystemLock#writeHeld"};
    Holders holders = {.asked = asked,
                       .host = host,
                       .begin_ns = minute_ns - NS_PER_MINUTE,
                       .end_ns = minute_ns + NS_PER_MINUTE,
                       .held = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free)};
    gboolean ok = TRUE;
    *holder = (Holder){.function = 0};
    for (guint lock = 0; ok && lock < G_N_ELEMENTS(names); lock++) {
        holders.functions[lock] = dict_find(archive_dict(asked->archive), names[lock], strlen(names[lock]));
        ok = add_traces(&holders, lock, error);
    }
    if (ok) choose(&holders, holder);
    g_hash_table_unref(holders.held);
    return ok;
}

json_t *holder_json(const Asked *asked, const Holder *holder) {
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(asked->archive, holder->function));
    json_object_set_new(object, "lock", json_string(holder->write ? "write" : "read"));
    json_object_set_new(object, "held_ns", json_integer(holder->held_ns));
    json_object_set_new(object, "trace", json_trace_id(holder->trace));
    return object;
}
