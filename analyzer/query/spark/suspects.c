#include "analyzer/query/spark/suspects.h"

#include <string.h>

#include "analyzer/query/spark/diagnosis.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

/* ---- one task's ---- */

static HdfsResource resource_of(const HdfsShare *share) {
    return share->resource == HDFS_SOCKET ? HDFS_NETWORK : share->resource;
}

typedef struct Sum {
    guint32 tracer;
    gint64 ns, of[HDFS_RESOURCE_COUNT];
    guint32 most[HDFS_RESOURCE_COUNT]; /* names of the functions that took most of each */
} Sum;

/* What a task computed in its own client is nobody's; a network without a known end still is the network. Shares are
 * sorted: the first of a process and resource took most. */
static void sum_shares(const GArray *shares, GArray *sums) {
    g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL); /* tracer -> place in sums, from 1 */
    for (guint i = 0; i < shares->len && allowance_goes_on(); i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, GUINT_TO_POINTER(share->tracer)));
        if (place == 0) {
            const Sum fresh = {.tracer = share->tracer};
            g_array_append_val(sums, fresh);
            place = sums->len;
            g_hash_table_insert(places, GUINT_TO_POINTER(share->tracer), GUINT_TO_POINTER(place));
        }

        Sum *sum = &g_array_index(sums, Sum, place - 1);
        const HdfsResource resource = resource_of(share);
        sum->ns += share->ns;
        sum->of[resource] += share->ns;
        if (sum->most[resource] == 0) sum->most[resource] = share->name;
    }
}

/* What of the process took most, but for the resources that 'told' has already. FALSE: there is nothing else. */
static gboolean next_resource(const Sum *sum, guint32 told, Suspect *suspect) {
    suspect->ns = 0;
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) {
        if (told & (1u << i) || sum->of[i] <= suspect->ns) continue;
        suspect->ns = sum->of[i];
        suspect->resource = (HdfsResource)i;
    }
    return suspect->ns > 0;
}

static void complete(Archive *archive, const Sum *sum, Suspect *suspect) {
    const Lookup *lookup = archive_lookup(archive);
    suspect->name = sum->most[suspect->resource];
    suspect->role = ROLE_LOCAL;
    if (suspect->tracer) lookup->process(lookup->arg, suspect->tracer, &suspect->role, &suspect->host);
}

static gint64 sum_of(const Sum *sum, guint32 resources) {
    gint64 ns = 0;
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++)
        if (resources & (1u << i)) ns += sum->of[i];
    return ns;
}

gboolean suspect_find(Archive *archive, const TaskHdfs *hdfs, guint32 resources, Suspect *suspect) {
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(Sum));
    sum_shares(hdfs->facts.shares, sums);

    const Sum *most = NULL;
    for (guint i = 0; i < sums->len; i++) {
        const Sum *sum = &g_array_index(sums, Sum, i);
        const gint64 ns = sum_of(sum, resources);
        if (ns > 0 && (!most || ns > sum_of(most, resources))) most = sum;
    }
    if (!most) return FALSE;

    Suspect found = {.tracer = most->tracer, .process_ns = most->ns};
    next_resource(most, ~resources, &found);
    complete(archive, most, &found);
    *suspect = found;
    return TRUE;
}

static gint by_time(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const Suspect *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->tracer != y->tracer) return x->tracer < y->tracer ? -1 : 1;
    return (gint)x->resource - (gint)y->resource;
}

GArray *suspects_of_shares(Archive *archive, const GArray *shares) {
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Suspect));
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(Sum));
    sum_shares(shares, sums);

    for (guint i = 0; i < sums->len && allowance_goes_on(); i++) {
        const Sum *sum = &g_array_index(sums, Sum, i);
        Suspect found = {.tracer = sum->tracer, .process_ns = sum->ns};
        for (guint32 told = 0; next_resource(sum, told, &found); told |= 1u << found.resource) {
            complete(archive, sum, &found);
            g_array_append_val(list, found);
        }
    }

    allowance_sort(list->data, list->len, sizeof(Suspect), by_time, NULL);
    return list;
}

json_t *suspect_json(Archive *archive, const Suspect *suspect) {
    json_t *object = json_object();
    if (suspect->tracer) {
        json_object_set_new(object, "process", json_name(archive, suspect->tracer));
        json_object_set_new(object, "host", json_name(archive, suspect->host));
        json_object_set_new(object, "role", json_string(role_name(suspect->role)));
    }
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(suspect->resource)));
    json_object_set_new(object, "function", json_name(archive, suspect->name));
    json_object_set_new(object, "time_ns", json_integer(suspect->ns));
    json_object_set_new(object, "process_time_ns", json_integer(suspect->process_ns));
    return object;
}

/* ---- evidence ---- */

/* A call of the suspect's function that the task waited for: by the process itself, or by the client for it. */
static gboolean is_call(const CallTree *tree, guint32 node, const Suspect *suspect) {
    const SpanRec *span = tree->span[node];
    if (!span || span->name != suspect->name) return FALSE;
    return suspect->resource == HDFS_NETWORK || suspect->tracer == 0 || span->tracer == suspect->tracer;
}

static json_t *path_json(Archive *archive, const TraceView *view, guint32 node) {
    const CallTree *tree = view->tree;
    const Lookup *lookup = archive_lookup(archive);
    g_autoptr(GArray) up = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 at = node; at != 0; at = tree->parent[at]) g_array_append_val(up, at);

    json_t *path = json_array();
    for (guint i = up->len; i-- > 0;) {
        const guint32 at = g_array_index(up, guint32, i);
        const SpanRec *span = tree->span[at];
        if (!span) continue;
        Role role;
        guint32 host;
        lookup->process(lookup->arg, span->tracer, &role, &host);

        json_t *step = json_object();
        json_object_set_new(step, "span", json_span_id(span->id));
        json_object_set_new(step, "function", json_name(archive, span->name));
        json_object_set_new(step, "role", json_string(role_name(role)));
        json_object_set_new(step, "host", json_name(archive, host));
        json_object_set_new(step, "offset_ns", json_integer(span->begin_ns - tree->begin_ns));
        json_object_set_new(step, "duration_ns", json_integer(span->duration_ns));
        json_object_set_new(step, "self_ns", json_integer(view->times->self_ns[at]));
        json_array_append_new(path, step);
    }

    return path;
}

typedef struct Calls {
    guint64 n;
    gint64 total_ns, self_ns;
    guint32 longest; /* node of the tree; 0: there are none */
} Calls;

/* How long it was waited for a call to begin by the one that asked a DataNode for it. */
static gint64 asked_ns(Archive *archive, const CallTree *tree, guint32 node) {
    const guint32 caller = tree->parent[node];
    if (!tree->span[caller]) return 0;
    const Lookup *lookup = archive_lookup(archive);
    Role role;
    guint32 host;
    lookup->process(lookup->arg, tree->span[caller]->tracer, &role, &host);
    const char *name = dict_text(archive_dict(archive), tree->span[caller]->name, NULL);
    if (hdfs_call_class(name, role) != CALL_ASK) return 0;
    return MAX(MIN(tree->from_ns[node], tree->to_ns[caller]) - tree->from_ns[caller], 0);
}

static Calls find_calls(Archive *archive, const TraceView *view, const Suspect *suspect) {
    const CallTree *tree = view->tree;
    Calls calls = {0};
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (!is_call(tree, i, suspect)) continue;
        const gint64 ns = tree->to_ns[i] - tree->from_ns[i];
        calls.n++;
        calls.total_ns += ns;
        calls.self_ns += view->times->self_ns[i] + asked_ns(archive, tree, i);
        if (calls.longest == 0 || ns > tree->to_ns[calls.longest] - tree->from_ns[calls.longest]) calls.longest = i;
    }
    return calls;
}

static void add_calls(const Asked *asked, const TraceView *view, const Calls *calls, json_t *object) {
    const CallTree *tree = view->tree;
    json_object_set_new(object, "calls", json_count(calls->n));
    json_object_set_new(object, "calls_total_ns", json_integer(calls->total_ns));
    json_object_set_new(object, "calls_self_ns", json_integer(calls->self_ns));
    if (calls->longest == 0) return;
    json_object_set_new(object, "longest_call_ns",
                        json_integer(tree->to_ns[calls->longest] - tree->from_ns[calls->longest]));
    json_object_set_new(object, "path", path_json(asked->archive, view, calls->longest));
}

void suspect_add_pace(json_t *object, const Suspect *suspect, const PaceFound *found) {
    static const char *const bases[NORMAL_COUNT] = {[NORMAL_ELSEWHERE] = "other hosts", [NORMAL_BEFORE] = "day before"};
    json_object_set_new(object, "pace", json_string(pace_name(found->pace)));
    if (found->pace == PACE_UNKNOWN) return;
    json_object_set_new(object, "compared_with", json_string(bases[found->basis]));
    json_set_number(object, "times_normal", found->times);
    const double more_ns = found->times > 1 ? (double)suspect->ns * (1 - 1 / found->times) : 0;
    json_object_set_new(object, "more_ns", json_integer((gint64)more_ns));
}

gboolean suspect_add_evidence(const Asked *asked, const TraceView *view, const Suspect *suspect, json_t *object,
                              GError **error) {
    const Calls calls = find_calls(asked->archive, view, suspect);
    add_calls(asked, view, &calls, object);

    /* The calls of the network are the client's: it is the host that others are compared with. */
    const Lookup *lookup = archive_lookup(asked->archive);
    guint32 host = suspect->host;
    Role role;
    if (calls.longest) lookup->process(lookup->arg, view->tree->span[calls.longest]->tracer, &role, &host);

    g_auto(Normals) normals = {.period = {0}};
    const NormalAsk ask = {suspect->name, host, normal_hour(view->tree->begin_ns)};
    if (!normals_load(asked->archive, &ask, &normals, error)) return FALSE;
    json_add_normals(object, asked->archive, &normals);
    const PaceFound found = normals_pace(&normals, PACE_OF_SELF, calls.self_ns, calls.n);
    suspect_add_pace(object, suspect, &found);
    return TRUE;
}

/* ---- how its host was ---- */

/* The classes of work that need the resource. */
static guint32 classes_of(HdfsResource resource) {
    switch (resource) {
    case HDFS_DISK:
        return 1u << WORK_DISK_READ | 1u << WORK_DISK_WRITE | 1u << WORK_TRANSFER | 1u << WORK_EDIT_LOG |
               1u << WORK_JOURNAL;
    case HDFS_NETWORK:
    case HDFS_SOCKET:
        return 1u << WORK_NETWORK | 1u << WORK_SENDING | 1u << WORK_DELIVERY | 1u << WORK_TRANSFER |
               1u << WORK_CLIENT_NETWORK;
    case HDFS_LOCK: return 1u << WORK_LOCK | 1u << WORK_EDIT_LOG;
    case HDFS_QUEUE: return 1u << WORK_QUEUE | 1u << WORK_LOCK | 1u << WORK_EDIT_LOG;
    case HDFS_SERVER: return 1u << WORK_PROCESSOR | 1u << WORK_STANDSTILL;
    default: return 1u << WORK_CLIENT;
    }
}

gboolean suspect_add_standing(const Suspect *suspect, Standing *standing, json_t *object, GError **error) {
    return standing_add(standing, suspect->host, classes_of(suspect->resource), object, error);
}

/* ---- summed over tasks ---- */

typedef struct SuspectSum {
    Suspect suspect; /* the one that explains most */
    guint32 tasks;
    double explains_ms, most_ms;
    gint64 since_ms;
} SuspectSum;

struct Suspects {
    GArray *sums; /* SuspectSum: as many as there are hosts that were waited for, times the resources */
};

Suspects *suspects_new(void) {
    Suspects *suspects = g_new0(Suspects, 1);
    suspects->sums = g_array_new(FALSE, TRUE, sizeof(SuspectSum));
    return suspects;
}

void suspects_free(Suspects *suspects) {
    if (!suspects) return;
    g_array_unref(suspects->sums);
    g_free(suspects);
}

void suspects_add(Suspects *suspects, const Suspect *suspect, double explains_ms, gint64 begin_ms) {
    SuspectSum *sum = NULL;

    for (guint i = 0; !sum && i < suspects->sums->len; i++) {
        SuspectSum *known = &g_array_index(suspects->sums, SuspectSum, i);
        if (known->suspect.host == suspect->host && known->suspect.role == suspect->role &&
            known->suspect.resource == suspect->resource) {
            sum = known;
        }
    }

    if (!sum) {
        const SuspectSum fresh = {.suspect = *suspect, .since_ms = begin_ms, .most_ms = explains_ms};
        g_array_append_val(suspects->sums, fresh);
        sum = &g_array_index(suspects->sums, SuspectSum, suspects->sums->len - 1);
    }

    if (explains_ms > sum->most_ms) {
        sum->suspect = *suspect;
        sum->most_ms = explains_ms;
    }

    sum->tasks++;
    sum->explains_ms += explains_ms;
    sum->since_ms = MIN(sum->since_ms, begin_ms);
}

static gint by_cost(gconstpointer a, gconstpointer b) {
    const SuspectSum *x = a, *y = b;
    if (x->explains_ms != y->explains_ms) return x->explains_ms > y->explains_ms ? -1 : 1;
    return x->suspect.host < y->suspect.host ? -1 : x->suspect.host > y->suspect.host;
}

static json_t *sum_json(Archive *archive, const SuspectSum *sum) {
    json_t *object = json_object();
    if (sum->suspect.host) json_object_set_new(object, "host", json_name(archive, sum->suspect.host));
    if (sum->suspect.tracer) json_object_set_new(object, "process", json_name(archive, sum->suspect.tracer));
    json_object_set_new(object, "role", json_string(role_name(sum->suspect.role)));
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(sum->suspect.resource)));
    json_object_set_new(object, "function", json_name(archive, sum->suspect.name));
    json_object_set_new(object, "tasks", json_integer(sum->tasks));
    json_object_set_new(object, "explains_ns", json_integer((gint64)(sum->explains_ms * NS_PER_MS)));
    json_object_set_new(object, "since_time_ns", json_integer(sum->since_ms * NS_PER_MS));
    return object;
}

json_t *suspects_json(Archive *archive, const Suspects *suspects, Standing *standing, GError **error) {
    json_auto_t *list = json_array();
    g_array_sort(suspects->sums, by_cost);
    for (guint i = 0; i < suspects->sums->len; i++) {
        const SuspectSum *sum = &g_array_index(suspects->sums, SuspectSum, i);
        json_t *object = sum_json(archive, sum);
        json_array_append_new(list, object);
        if (standing && !suspect_add_standing(&sum->suspect, standing, object, error)) return NULL;
    }
    return g_steal_pointer(&list);
}
