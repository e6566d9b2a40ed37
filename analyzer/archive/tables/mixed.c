/* In the family of patterns, behind all numbers of patterns (layout.h):
 *
 *   key    the number u32, node u32
 *   value  of node 0: the root's name + 1 as varint (0: NAME_MISSING), its role (1 byte); of the others: their parent
 *          as varint, name, role. Numbers have no holes, nor have nodes. */
#include "analyzer/archive/tables/mixed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/tables/layout.h"
#include "analyzer/calltree/stats/key_table.h"
#include "common/base/error.h"

#define ROOT_KEY G_MAXUINT32 /* in place of a parent: node 0 */

/* A tree: nodes[n] are the keys (parent, name, role) by number; node 0 is (ROOT_KEY, name and role of the root). */
typedef struct MixedTree {
    PatternId id;
    KeyTable nodes;
} MixedTree;

typedef struct FreshNode {
    guint32 tree, node;
} FreshNode;

struct MixedTable {
    Store *store;
    const Lookup *lookup;
    pthread_rwlock_t lock; /* of all that follows */
    GPtrArray *trees;      /* MixedTree; number MIXED_NUMBER + 1 is the first */
    KeyTable roots;        /* (name, role) -> index in trees */
    guint32 n_nodes;       /* of all trees */
    GArray *fresh;         /* FreshNode not stored yet */
    guint64 stored;        /* how many went before them */
};

static void tree_free_mixed(gpointer data) {
    MixedTree *tree = data;
    key_table_clear(&tree->nodes);
    g_free(tree);
}

static MixedTree *tree_at(const MixedTable *table, guint32 number) {
    guint32 index = number - MIXED_NUMBER - 1;
    return number > MIXED_NUMBER && index < table->trees->len ? table->trees->pdata[index] : NULL;
}

/* ---- ids ---- */

/* SHA-256 over one byte for what the root is ('U' a function, 'M' missing parents, 'A' any), the name of its role and a
 * zero byte, and its name. This never changes. */
static PatternId id_of_root(const Lookup *lookup, guint32 name, guint32 role) {
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize size = sizeof digest, length = 0;
    const guchar kind = name == NAME_MISSING ? 'M' : name == NAME_OTHERS ? 'A' : 'U';
    g_checksum_update(checksum, &kind, 1);
    g_checksum_update(checksum, (const guchar *)role_name((Role)role), (gssize)strlen(role_name((Role)role)) + 1);
    const char *text = kind == 'U' ? lookup->text(lookup->arg, name, &length) : "";
    g_checksum_update(checksum, (const guchar *)text, (gssize)length);
    g_checksum_get_digest(checksum, digest, &size);
    PatternId id;
    memcpy(id.bytes, digest, sizeof id.bytes);
    return id;
}

/* ---- nodes ---- */

static guint32 add_node(MixedTable *table, guint32 index, const guint32 key[4]) {
    MixedTree *tree = table->trees->pdata[index];
    table->n_nodes++;
    return key_table_number(&tree->nodes, key);
}

static guint32 add_fresh(MixedTable *table, guint32 index, const guint32 key[4]) {
    FreshNode fresh = {index, add_node(table, index, key)};
    g_array_append_val(table->fresh, fresh);
    return fresh.node;
}

static MixedTree *add_tree(MixedTable *table, guint32 name, guint32 role) {
    MixedTree *tree = g_new0(MixedTree, 1);
    tree->id = id_of_root(table->lookup, name, role);
    key_table_init(&tree->nodes);
    g_ptr_array_add(table->trees, tree);
    key_table_number(&table->roots, (const guint32[4]){name, role});
    return tree;
}

/* ---- reading what is stored ---- */

static gboolean malformed(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "a stored node of a mixed pattern is malformed");
}

static gboolean load_node(MixedTable *table, Bytes key, Bytes value, GError **error) {
    ByteReader k = byte_reader(key.data, key.size_bytes), v = byte_reader(value.data, value.size_bytes);
    guint32 number = read_u32be(&k), node = read_u32be(&k);
    guint64 parent = node == 0 ? ROOT_KEY : read_varint(&v), name = read_varint(&v);
    guint8 role = read_u8(&v);
    if (k.failed || v.failed || reader_left(&k) + reader_left(&v) != 0 || name > G_MAXUINT32 || role >= ROLE_COUNT)
        return malformed(error);

    const guint32 own[4] = {(guint32)parent, (guint32)name - 1, role};
    guint32 seen;

    if (node == 0) {
        const guint32 root[4] = {own[1], own[2]};
        if (number != MIXED_NUMBER + 1 + table->trees->len || key_table_find(&table->roots, root, &seen))
            return malformed(error);
        add_tree(table, own[1], own[2]);
    }

    MixedTree *tree = tree_at(table, number);
    if (tree == NULL || node != tree->nodes.n || (node > 0 && parent >= node) ||
        key_table_find(&tree->nodes, own, &seen))
        return malformed(error);

    add_node(table, number - MIXED_NUMBER - 1, own);
    return TRUE;
}

static gboolean table_load(MixedTable *table, GError **error) {
    g_autoptr(StoreIter) iter = store_iter_new(table->store, FAMILY_PATTERN);
    LayoutKey first = pattern_key(MIXED_NUMBER);
    for (gboolean more = store_iter_seek(iter, key_bytes(&first)); more; more = store_iter_next(iter))
        if (!load_node(table, store_iter_key(iter), store_iter_value(iter), error)) return FALSE;
    return store_iter_error(iter, error);
}

MixedTable *mixed_table_open(Store *store, const Lookup *lookup, GError **error) {
    g_autoptr(MixedTable) table = g_new0(MixedTable, 1);
    table->store = store;
    table->lookup = lookup;
    pthread_rwlock_init(&table->lock, NULL);
    table->trees = g_ptr_array_new_with_free_func(tree_free_mixed);
    table->fresh = g_array_new(FALSE, FALSE, sizeof(FreshNode));
    key_table_init(&table->roots);
    return table_load(table, error) ? g_steal_pointer(&table) : NULL;
}

void mixed_table_free(MixedTable *table) {
    if (table == NULL) return;
    g_clear_pointer(&table->trees, g_ptr_array_unref);
    g_clear_pointer(&table->fresh, g_array_unref);
    key_table_clear(&table->roots);
    pthread_rwlock_destroy(&table->lock);
    g_free(table);
}

/* ---- where a shape is counted ---- */

/* The first root in the order of the pattern; traces without one are those of missing parents. */
static void root_of(const Pattern *shape, guint32 key[4]) {
    memset(key, 0, 4 * sizeof *key);
    key[0] = NAME_MISSING;
    key[1] = ROLE_LOCAL;
    for (guint32 i = 1; i < shape->n_nodes; i = shape->nodes[i].end) {
        if (shape->nodes[i].name == NAME_MISSING) continue;
        key[0] = shape->nodes[i].name;
        key[1] = shape->nodes[i].role;
        return;
    }
}

static const guint32 any_root[4] = {NAME_OTHERS, ROLE_LOCAL};

/* 0: not there. */
static guint32 find_number(const MixedTable *table, const guint32 root[4]) {
    guint32 index = 0;
    return key_table_find(&table->roots, root, &index) ? MIXED_NUMBER + 1 + index : 0;
}

static guint32 make_number(MixedTable *table, const guint32 root[4]) {
    guint32 number = find_number(table, root);
    if (number != 0) return number;
    if (table->trees->len + 1 >= MIXED_PATTERNS_MAX) {
        number = find_number(table, any_root);
        if (number != 0) return number;
        root = any_root;
    }
    add_tree(table, root[0], root[1]);
    add_fresh(table, table->trees->len - 1, (const guint32[4]){ROOT_KEY, root[0], root[1]});
    return MIXED_NUMBER + table->trees->len;
}

guint32 mixed_table_number(MixedTable *table, const Pattern *shape) {
    guint32 root[4];
    root_of(shape, root);
    pthread_rwlock_rdlock(&table->lock);
    guint32 number = find_number(table, root);
    pthread_rwlock_unlock(&table->lock);
    if (number != 0) return number;
    pthread_rwlock_wrlock(&table->lock);
    number = make_number(table, root);
    pthread_rwlock_unlock(&table->lock);
    return number;
}

gboolean mixed_table_fits(MixedTable *table, guint32 number, const Pattern *shape) {
    guint32 root[4];
    root_of(shape, root);
    pthread_rwlock_rdlock(&table->lock);
    gboolean fits = number != 0 && (number == find_number(table, root) || number == find_number(table, any_root));
    pthread_rwlock_unlock(&table->lock);
    return fits;
}

/* Once it is full it stays so: what has no node then never gets one. */
static gboolean is_full(const MixedTable *table, const MixedTree *tree) {
    return tree->nodes.n >= MIXED_NODES_EACH || table->n_nodes >= MIXED_NODES_ALL;
}

/* The node of a key; one that lacks is made, when 'add' says so and there is room. FALSE: there is none. */
static gboolean node_of_key(MixedTable *table, guint32 index, const guint32 key[4], gboolean add, guint32 *node) {
    const MixedTree *tree = table->trees->pdata[index];
    const guint32 others[4] = {0, NAME_OTHERS, ROLE_LOCAL};
    if (key_table_find(&tree->nodes, key, node)) return TRUE;
    gboolean full = is_full(table, tree);
    if (full && key_table_find(&tree->nodes, others, node)) return TRUE;
    if (add) *node = add_fresh(table, index, full ? others : key);
    return add;
}

static gboolean find_rows(MixedTable *table, guint32 index, const Pattern *shape, gboolean add, guint32 *row_of) {
    const MixedTree *tree = table->trees->pdata[index];
    row_of[0] = 0;
    for (guint32 i = 1; i < shape->n_nodes; i++) {
        const PatternNode *node = &shape->nodes[i];
        guint32 parent = row_of[node->parent];
        /* What is below a call without a node of its own is with it. */
        if (parent != 0 && tree->nodes.keys[parent][1] == NAME_OTHERS) {
            row_of[i] = parent;
            continue;
        }
        const guint32 key[4] = {parent, node->name, node->role};
        if (!node_of_key(table, index, key, add, &row_of[i])) return FALSE;
    }
    return TRUE;
}

gboolean mixed_table_rows(MixedTable *table, guint32 number, const Pattern *shape, gboolean add, guint32 *row_of) {
    guint32 index = number - MIXED_NUMBER - 1;
    pthread_rwlock_rdlock(&table->lock);
    gboolean known = tree_at(table, number) != NULL;
    gboolean found = known && find_rows(table, index, shape, FALSE, row_of);
    pthread_rwlock_unlock(&table->lock);
    if (found || !add || !known) return found;
    pthread_rwlock_wrlock(&table->lock);
    found = find_rows(table, index, shape, TRUE, row_of);
    pthread_rwlock_unlock(&table->lock);
    return found;
}

/* ---- readers ---- */

guint32 mixed_table_count(MixedTable *table) {
    pthread_rwlock_rdlock(&table->lock);
    guint32 count = table->trees->len;
    pthread_rwlock_unlock(&table->lock);
    return count;
}

guint32 mixed_table_find(MixedTable *table, PatternId id) {
    guint32 number = 0;
    pthread_rwlock_rdlock(&table->lock);
    for (guint i = 0; number == 0 && i < table->trees->len; i++) {
        const MixedTree *tree = table->trees->pdata[i];
        if (memcmp(tree->id.bytes, id.bytes, sizeof id.bytes) == 0) number = MIXED_NUMBER + 1 + i;
    }
    pthread_rwlock_unlock(&table->lock);
    return number;
}

gboolean mixed_table_id(MixedTable *table, guint32 number, PatternId *id) {
    pthread_rwlock_rdlock(&table->lock);
    const MixedTree *tree = tree_at(table, number);
    if (tree != NULL) *id = tree->id;
    pthread_rwlock_unlock(&table->lock);
    return tree != NULL;
}

typedef struct Ordering {
    const MixedTable *table;
    const MixedTree *tree;
} Ordering;

/* Siblings together, parents ascending; siblings by name, then role. */
static gint by_parent(gconstpointer left, gconstpointer right, gpointer arg) {
    const Ordering *ordering = arg;
    const guint32 *a = ordering->tree->nodes.keys[*(const guint32 *)left];
    const guint32 *b = ordering->tree->nodes.keys[*(const guint32 *)right];
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    if (a[1] != b[1]) {
        const Lookup *lookup = ordering->table->lookup;
        gsize length;
        int order = strcmp(lookup->text(lookup->arg, a[1], &length), lookup->text(lookup->arg, b[1], &length));
        if (order != 0) return order;
        return a[1] < b[1] ? -1 : 1;
    }
    return (a[2] > b[2]) - (a[2] < b[2]);
}

/* Parents have lower numbers than their children: places go down from them, sizes up to them. */
static Pattern *lay_out(const MixedTable *table, const MixedTree *tree, guint32 *place) {
    guint32 n = tree->nodes.n;
    g_autofree guint32 *order = g_new(guint32, n);
    g_autofree guint32 *size = g_new(guint32, n);
    g_autofree guint32 *next = g_new(guint32, n); /* the place of a node's next child */

    for (guint32 i = 0; i < n; i++) {
        order[i] = i;
        size[i] = 1;
    }
    for (guint32 i = n; i-- > 1;) size[tree->nodes.keys[i][0]] += size[i];

    Ordering ordering = {table, tree};
    g_qsort_with_data(order + 1, (gint)n - 1, sizeof *order, by_parent, &ordering);

    Pattern *pattern = g_malloc(sizeof(Pattern) + n * sizeof(PatternNode));
    pattern->refs = 1;
    pattern->id = tree->id;
    pattern->n_nodes = n;
    pattern->nodes[0] = (PatternNode){NAME_TRACE, ROLE_LOCAL, 0, n};
    place[0] = 0;
    next[0] = 1;

    for (guint32 k = 1; k < n; k++) {
        guint32 i = order[k];
        const guint32 *key = tree->nodes.keys[i];
        place[i] = next[key[0]];
        next[key[0]] += size[i];
        next[i] = place[i] + 1;
        pattern->nodes[place[i]] = (PatternNode){key[1], key[2], place[key[0]], place[i] + size[i]};
    }

    return pattern;
}

Pattern *mixed_table_pattern(MixedTable *table, guint32 number, guint32 **node_of, guint32 *n) {
    Pattern *pattern = NULL;
    pthread_rwlock_rdlock(&table->lock);
    const MixedTree *tree = tree_at(table, number);
    if (tree != NULL) {
        *n = tree->nodes.n;
        *node_of = g_new(guint32, *n);
        pattern = lay_out(table, tree, *node_of);
    }
    pthread_rwlock_unlock(&table->lock);
    return pattern;
}

/* ---- storing ---- */

static void put_node(const MixedTable *table, const FreshNode *fresh, GByteArray *value, StoreBatch *batch) {
    const MixedTree *tree = table->trees->pdata[fresh->tree];
    const guint32 *own = tree->nodes.keys[fresh->node];
    LayoutKey key = mixed_key(MIXED_NUMBER + 1 + fresh->tree, fresh->node);
    g_byte_array_set_size(value, 0);
    if (fresh->node != 0) append_varint(value, own[0]);
    append_varint(value, (guint32)(own[1] + 1));
    append_u8(value, (guint8)own[2]);
    store_batch_put(batch, FAMILY_PATTERN, key_bytes(&key), (Bytes){value->data, value->len});
}

guint64 mixed_table_put(MixedTable *table, StoreBatch *batch) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    pthread_rwlock_rdlock(&table->lock);
    for (guint i = 0; i < table->fresh->len; i++)
        put_node(table, &g_array_index(table->fresh, FreshNode, i), value, batch);
    guint64 upto = table->stored + table->fresh->len;
    pthread_rwlock_unlock(&table->lock);
    return upto;
}

void mixed_table_stored(MixedTable *table, guint64 upto) {
    pthread_rwlock_rdlock(&table->lock);
    gboolean any = upto > table->stored;
    pthread_rwlock_unlock(&table->lock);
    if (!any) return;
    pthread_rwlock_wrlock(&table->lock);
    if (upto > table->stored) {
        g_array_remove_range(table->fresh, 0, (guint)(upto - table->stored));
        table->stored = upto;
    }
    pthread_rwlock_unlock(&table->lock);
}
