#include "tests/calltree/reference.h"

#include <string.h>

/* ---- assembly ---- */

static RefNode *node_new(RefTree *tree, const SpanRec *span) {
    RefNode *node = g_new0(RefNode, 1);
    node->span = span;
    node->children = g_ptr_array_new();
    if (span != NULL) node->begin_ns = span->begin_ns;
    g_ptr_array_add(tree->all, node);
    return node;
}

static RefNode *find_span(RefTree *tree, SpanId id) {
    for (guint i = 0; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->span != NULL && span_id_equal(node->span->id, id)) return node;
    }
    return NULL;
}

static RefNode *find_placeholder(RefTree *tree, SpanId id) {
    for (guint i = 1; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->span == NULL && span_id_equal(node->missing, id)) return node;
    }
    return NULL;
}

static void keep_one_of_each_id(RefTree *tree, GPtrArray *spans) {
    for (guint i = 0; i < spans->len; i++) {
        const SpanRec *span = spans->pdata[i];
        gboolean keep = TRUE, same_before = FALSE, is_least = TRUE;
        for (guint j = 0; j < spans->len; j++) {
            const SpanRec *other = spans->pdata[j];
            if (!span_id_equal(span->id, other->id)) continue;
            int order = span_rec_compare(other, span);
            if (order < 0) is_least = FALSE;
            if (order == 0 && j < i) same_before = TRUE;
        }
        keep = is_least && !same_before;
        if (keep) node_new(tree, span);
        if (!is_least) tree->conflicts++;
        if (is_least && same_before) tree->duplicates++;
    }
}

static void find_first_known_parent(RefTree *tree, RefNode *node) {
    const SpanRec *span = node->span;
    if (span->n_parents == 0) {
        node->parent = tree->trace;
        tree->roots++;
        return;
    }

    for (guint i = 0; i < span->n_parents && node->parent == NULL; i++) {
        node->parent = find_span(tree, span_parents(span)[i]);
    }
    if (node->parent != NULL) return;

    node->orphan = TRUE;
    tree->orphans++;
    RefNode *placeholder = find_placeholder(tree, span_parents(span)[0]);
    if (placeholder == NULL) {
        placeholder = node_new(tree, NULL);
        placeholder->missing = span_parents(span)[0];
        placeholder->begin_ns = span->begin_ns;
        placeholder->parent = tree->trace;
        tree->placeholders++;
    }

    placeholder->begin_ns = MIN(placeholder->begin_ns, span->begin_ns);
    node->parent = placeholder;
}

/* Is the node on a cycle, and the least of it? */
static gboolean is_where_to_cut(const RefTree *tree, const RefNode *node) {
    gboolean least = TRUE;
    const RefNode *at = node->parent;
    for (guint steps = 0; steps <= tree->all->len && at != NULL && at != node; steps++) {
        if (at->span != NULL && span_id_compare(at->span->id, node->span->id) < 0) least = FALSE;
        at = at->parent;
    }
    return at == node && least;
}

static SpanId id_of(const RefNode *node) { return node->span != NULL ? node->span->id : node->missing; }

static gint before_sibling(gconstpointer a, gconstpointer b) {
    const RefNode *x = *(RefNode *const *)a, *y = *(RefNode *const *)b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return span_id_compare(id_of(x), id_of(y));
}

static gint64 end_of(const SpanRec *span) {
    return span->duration_ns < 0 ? span->begin_ns : span->begin_ns + span->duration_ns;
}

static void list_in_order(RefTree *tree, RefNode *node) {
    g_ptr_array_add(tree->in_order, node);
    g_ptr_array_sort(node->children, before_sibling);
    for (guint i = 0; i < node->children->len; i++) list_in_order(tree, node->children->pdata[i]);
}

static void flag_times(RefTree *tree, RefNode *node, gint64 tolerance_ns) {
    if (node->span == NULL) return;
    node->reversed = node->span->duration_ns < 0;
    tree->reversed += node->reversed;
    if (node->parent->span == NULL) return;
    const SpanRec *parent = node->parent->span;
    node->outside =
        node->span->begin_ns < parent->begin_ns - tolerance_ns || end_of(node->span) > end_of(parent) + tolerance_ns;
    tree->outside += node->outside;
}

RefTree *ref_tree_new(GPtrArray *spans, gint64 tolerance_ns) {
    RefTree *tree = g_new0(RefTree, 1);
    tree->all = g_ptr_array_new();
    tree->in_order = g_ptr_array_new();
    tree->trace = node_new(tree, NULL);
    keep_one_of_each_id(tree, spans);

    guint n = tree->all->len;
    for (guint i = 1; i < n; i++) find_first_known_parent(tree, tree->all->pdata[i]);
    for (guint i = 1; i < n; i++) {
        RefNode *node = tree->all->pdata[i];
        node->cut = is_where_to_cut(tree, node);
    }

    for (guint i = 1; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        if (node->cut) node->parent = tree->trace;
        tree->cycles += node->cut;
        g_ptr_array_add(node->parent->children, node);
        flag_times(tree, node, tolerance_ns);
    }

    list_in_order(tree, tree->trace);
    return tree;
}

void ref_tree_free(RefTree *tree) {
    if (tree == NULL) return;
    for (guint i = 0; i < tree->all->len; i++) {
        RefNode *node = tree->all->pdata[i];
        g_ptr_array_unref(node->children);
        g_free(node->shape);
        g_free(node);
    }
    g_ptr_array_unref(tree->all);
    g_ptr_array_unref(tree->in_order);
    g_free(tree);
}

/* ---- times: one unit after the other ---- */

static gboolean child_runs_at(const RefNode *node, gint64 time) {
    for (guint i = 0; i < node->children->len; i++) {
        const SpanRec *child = ((RefNode *)node->children->pdata[i])->span;
        if (child->begin_ns <= time && time < end_of(child)) return TRUE;
    }
    return FALSE;
}

static void self_time(RefNode *node, gint64 unit_ns) {
    for (gint64 time = node->span->begin_ns; time < end_of(node->span); time += unit_ns) {
        if (!child_runs_at(node, time)) node->self_ns += unit_ns;
    }
}

/* The window of a child inside that of its parent; FALSE: nothing of it is inside. */
static gboolean clip(const RefNode *child, gint64 from, gint64 to, gint64 *begin, gint64 *end) {
    *begin = MAX(child->span->begin_ns, from);
    *end = MIN(end_of(child->span), to);
    return *begin < *end;
}

static RefNode *last_to_end(RefNode *node, gint64 from, gint64 to, gint64 cursor) {
    RefNode *last = NULL;
    gint64 begin, end, last_begin = 0, last_end = 0;
    for (guint i = 0; i < node->children->len; i++) {
        RefNode *child = node->children->pdata[i];
        if (!clip(child, from, to, &begin, &end) || end > cursor) continue;
        gboolean better = last == NULL || end > last_end || (end == last_end && begin < last_begin);
        if (last != NULL && end == last_end && begin == last_begin && child->span->begin_ns == last->span->begin_ns)
            better = child->pattern_node < last->pattern_node; /* else the first in the tree */
        if (!better) continue;
        last = child;
        last_begin = begin;
        last_end = end;
    }
    return last;
}

static void critical_path(RefNode *node, gint64 from, gint64 to) {
    gint64 cursor = to, begin, end;
    RefNode *child;
    while ((child = last_to_end(node, from, to, cursor)) != NULL) {
        clip(child, from, to, &begin, &end);
        node->critical_ns += cursor - end;
        critical_path(child, begin, end);
        cursor = begin;
    }
    node->critical_ns += cursor - from;
}

void ref_times(RefTree *tree, gint64 unit_ns) {
    for (guint i = 0; i < tree->in_order->len; i++) {
        RefNode *node = tree->in_order->pdata[i];
        if (node->span == NULL) continue;
        self_time(node, unit_ns);
        if (node->parent->span == NULL) critical_path(node, node->span->begin_ns, end_of(node->span));
    }
}

/* ---- compression: shapes are strings ---- */

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static Role role_of(const RefNode *node, const World *world) {
    Role role = ROLE_LOCAL;
    guint32 host;
    if (node->span != NULL) world->lookup.process(world->lookup.arg, node->span->tracer, &role, &host);
    return role;
}

static char kind_of(const RefNode *node) { return node->span != NULL ? 'S' : node->parent == NULL ? 'T' : 'M'; }

static const char *name_of(const RefNode *node, const World *world) {
    gsize length;
    return node->span != NULL ? world->lookup.text(world->lookup.arg, node->span->name, &length) : "";
}

static void name_shapes(RefNode *node, const World *world) {
    g_autoptr(GPtrArray) shapes = g_ptr_array_new();
    for (guint i = 0; i < node->children->len; i++) {
        RefNode *child = node->children->pdata[i];
        name_shapes(child, world);
        g_ptr_array_add(shapes, child->shape);
    }
    g_ptr_array_sort(shapes, by_text);
    GString *shape = g_string_new(NULL);
    g_string_append_printf(shape, "%c'%s'%d(", kind_of(node), name_of(node, world), role_of(node, world));
    for (guint i = 0; i < shapes->len; i++) {
        if (i == 0 || strcmp(shapes->pdata[i], shapes->pdata[i - 1]) != 0) g_string_append(shape, shapes->pdata[i]);
    }
    g_string_append_c(shape, ')');
    node->shape = g_string_free(shape, FALSE);
}

static gint canonical_order(gconstpointer a, gconstpointer b) {
    const RefPattern *x = *(RefPattern *const *)a, *y = *(RefPattern *const *)b;
    int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    if (x->role != y->role) return x->role < y->role ? -1 : 1;
    return memcmp(x->digest, y->digest, sizeof x->digest);
}

/* Numbers here are small: one byte of varint, or two. */
static void append_small(GByteArray *text, guint number) {
    guint8 bytes[2] = {(guint8)(number & 0x7f), (guint8)(number >> 7)};
    g_assert(number < 1u << 14);
    if (number >= 128) bytes[0] |= 0x80;
    g_byte_array_append(text, bytes, number >= 128 ? 2 : 1);
}

static void compute_digest(RefPattern *pattern) {
    g_autoptr(GByteArray) text = g_byte_array_new();
    const char *role = role_name(pattern->role);
    g_byte_array_append(text, (const guint8 *)&pattern->kind, 1);
    g_byte_array_append(text, (const guint8 *)role, (guint)strlen(role) + 1);
    append_small(text, (guint)strlen(pattern->name));
    g_byte_array_append(text, (const guint8 *)pattern->name, (guint)strlen(pattern->name));
    append_small(text, pattern->children->len);
    for (guint i = 0; i < pattern->children->len; i++) {
        g_byte_array_append(text, ((RefPattern *)pattern->children->pdata[i])->digest, 32);
    }
    g_autofree char *hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, text->data, text->len);
    for (guint i = 0; i < 32; i++) {
        pattern->digest[i] = (guint8)(g_ascii_xdigit_value(hex[2 * i]) * 16 + g_ascii_xdigit_value(hex[2 * i + 1]));
    }
}

/* Nodes of one shape become one; so do their children of one shape, whoever of them is the parent. */
static RefPattern *merge(GPtrArray *members, const World *world) {
    const RefNode *any = members->pdata[0];
    RefPattern *pattern = g_new0(RefPattern, 1);
    pattern->name = g_strdup(name_of(any, world));
    pattern->kind = kind_of(any);
    pattern->role = role_of(any, world);
    pattern->members = g_ptr_array_ref(members);
    pattern->children = g_ptr_array_new();
    g_autoptr(GHashTable) by_shape =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);

    for (guint i = 0; i < members->len; i++) {
        const RefNode *member = members->pdata[i];
        for (guint c = 0; c < member->children->len; c++) {
            RefNode *child = member->children->pdata[c];
            GPtrArray *same = g_hash_table_lookup(by_shape, child->shape);
            if (same == NULL) g_hash_table_insert(by_shape, child->shape, same = g_ptr_array_new());
            g_ptr_array_add(same, child);
        }
    }

    GHashTableIter iter;
    gpointer same;
    g_hash_table_iter_init(&iter, by_shape);
    while (g_hash_table_iter_next(&iter, NULL, &same)) g_ptr_array_add(pattern->children, merge(same, world));

    g_ptr_array_sort(pattern->children, canonical_order);
    compute_digest(pattern);
    return pattern;
}

RefPattern *ref_pattern_new(RefTree *tree, const World *world) {
    name_shapes(tree->trace, world);
    g_autoptr(GPtrArray) members = g_ptr_array_new();
    g_ptr_array_add(members, tree->trace);
    return merge(members, world);
}

void ref_pattern_free(RefPattern *pattern) {
    if (pattern == NULL) return;
    for (guint i = 0; i < pattern->children->len; i++) ref_pattern_free(pattern->children->pdata[i]);
    g_ptr_array_unref(pattern->children);
    g_ptr_array_unref(pattern->members);
    g_free(pattern->name);
    g_free(pattern);
}
