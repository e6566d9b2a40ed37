#include "analyzer/query/traces/skew.h"

#include <string.h>

#include "analyzer/query/shared/question.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

typedef struct Pair {
    guint32 from, to; /* dictionary ids of hosts; the first of the two texts is 'from' */
    gint64 offset_ns, doubt_ns;
    guint64 samples;
} Pair;

struct Skew {
    Archive *archive;
    GHashTable *pairs; /* Pair, by (from, to) */
};

static guint pair_hash(gconstpointer data) {
    const Pair *pair = data;
    return pair->from * 2654435761u ^ pair->to;
}

static gboolean pair_equal(gconstpointer left, gconstpointer right) {
    const Pair *a = left, *b = right;
    return a->from == b->from && a->to == b->to;
}

Skew *skew_new(Archive *archive) {
    Skew *skew = g_new0(Skew, 1);
    skew->archive = archive;
    skew->pairs = g_hash_table_new_full(pair_hash, pair_equal, g_free, NULL);
    return skew;
}

void skew_free(Skew *skew) {
    if (!skew) return;
    g_hash_table_unref(skew->pairs);
    g_free(skew);
}

/* Ties go to the smaller offset, so that the result does not depend on the order of the calls. */
static gboolean tells_more(const Pair *a, const Pair *b) {
    return a->doubt_ns != b->doubt_ns ? a->doubt_ns < b->doubt_ns : a->offset_ns < b->offset_ns;
}

static void add_sample(Skew *skew, Pair sample) {
    Dict *dict = archive_dict(skew->archive);
    if (strcmp(dict_text(dict, sample.from, NULL), dict_text(dict, sample.to, NULL)) > 0) {
        guint32 from = sample.from;
        sample.from = sample.to;
        sample.to = from;
        sample.offset_ns = -sample.offset_ns;
    }
    Pair *known = g_hash_table_lookup(skew->pairs, &sample);
    if (!known) {
        known = g_memdup2(&sample, sizeof sample);
        g_hash_table_add(skew->pairs, known);
    }
    guint64 samples = known->samples + 1;
    if (tells_more(&sample, known)) *known = sample;
    known->samples = samples;
}

static guint32 host_of(const Skew *skew, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(skew->archive);
    Role role;
    guint32 host;
    lookup->process(lookup->arg, span->tracer, &role, &host);
    return host;
}

void skew_add_tree(Skew *skew, const CallTree *tree) {
    for (guint32 i = 1; i < tree->n_nodes && allowance_goes_on(); i++) {
        const SpanRec *child = tree->span[i], *parent = tree->span[tree->parent[i]];
        if (!child || !parent || child->duration_ns < 0) continue;
        gint64 delay_ns = parent->duration_ns - child->duration_ns;
        if (child->tracer == parent->tracer || delay_ns < 0) continue;
        guint32 from = host_of(skew, parent), to = host_of(skew, child);
        if (from == 0 || to == 0 || from == to) continue;
        gint64 begins_ns = parent->begin_ns - child->begin_ns;
        gboolean coarse = ((parent->flags | child->flags) & SPAN_MILLISECONDS) != 0;
        /* The ends differ by delay more than the begins: (begins + begins + delay) / 2. */
        Pair sample = {from, to, begins_ns + delay_ns / 2, (delay_ns + 1) / 2 + (coarse ? NS_PER_MS : 0), 0};
        add_sample(skew, sample);
    }
}

typedef struct NamedPair {
    const char *from, *to;
    const Pair *pair;
} NamedPair;

static gint compare_pairs(gconstpointer left, gconstpointer right, gpointer unused) {
    (void)unused;
    const NamedPair *a = left, *b = right;
    gint order = strcmp(a->from, b->from);
    return order ? order : strcmp(a->to, b->to);
}

json_t *skew_json(const Skew *skew) {
    Dict *dict = archive_dict(skew->archive);
    g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(NamedPair));

    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, skew->pairs);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &data, NULL)) {
        const Pair *pair = data;
        NamedPair row = {dict_text(dict, pair->from, NULL), dict_text(dict, pair->to, NULL), pair};
        g_array_append_val(named, row);
    }
    allowance_sort(named->data, named->len, sizeof(NamedPair), compare_pairs, NULL);

    json_t *list = json_array();
    for (guint i = 0; i < named->len && allowance_goes_on(); i++) {
        const NamedPair *row = &g_array_index(named, NamedPair, i);
        json_t *object = json_object();
        json_object_set_new(object, "from", json_text(row->from, strlen(row->from)));
        json_object_set_new(object, "to", json_text(row->to, strlen(row->to)));
        json_object_set_new(object, "offset_ns", json_integer(row->pair->offset_ns));
        json_object_set_new(object, "uncertainty_ns", json_integer(row->pair->doubt_ns));
        json_object_set_new(object, "samples", json_count(row->pair->samples));
        json_array_append_new(list, object);
    }

    return list;
}
