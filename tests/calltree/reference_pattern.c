#include <string.h>

#include "tests/calltree/reference.h"

/* ---- compression: shapes are strings ---- */

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static Role role_of(const RefNode *node, const World *world) {
    Role role = ROLE_LOCAL;
    guint32 host;
    if (node->span != NULL) world->lookup.process(world->lookup.arg, node->span->tracer, &role, &host);
    return role;
}

static char kind_of(const RefNode *node) { return node->span != NULL ? 'S' : node->parent == NULL ? 'T' : 'M'; }

static void name_shapes(RefNode *node, const World *world) {
    g_autoptr(GPtrArray) shapes = g_ptr_array_new();
    for (guint i = 0; i < node->children->len; i++) {
        RefNode *child = node->children->pdata[i];
        name_shapes(child, world);
        g_ptr_array_add(shapes, child->shape);
    }
    g_ptr_array_sort(shapes, by_text);
    GString *shape = g_string_new(NULL);
    g_string_append_printf(shape, "%c'%s'%d(", kind_of(node), ref_name(node, world), role_of(node, world));
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
    pattern->name = g_strdup(ref_name(any, world));
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
