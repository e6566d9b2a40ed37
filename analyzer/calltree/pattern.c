/* Stored form of a pattern: version (1 byte, 1), id (16 bytes), number of nodes (varint); then per node in pre-order,
 * node 0 left out, its name + 1 as varint (0: NAME_MISSING), its role (1 byte) and the number of nodes below it
 * (varint). */
#include "analyzer/calltree/pattern.h"

#include <string.h>

#include "common/base/error.h"

#define PATTERN_VERSION 1

void pattern_id_format(PatternId id, char text[PATTERN_ID_TEXT_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    for (gsize i = 0; i < sizeof id.bytes; i++) {
        text[2 * i] = digits[id.bytes[i] >> 4];
        text[2 * i + 1] = digits[id.bytes[i] & 15];
    }
    text[PATTERN_ID_TEXT_BYTES - 1] = 0;
}

gboolean pattern_id_parse(const char *text, gsize length, PatternId *id) {
    PatternId parsed;
    if (length != PATTERN_ID_TEXT_BYTES - 1) return FALSE;
    for (gsize i = 0; i < sizeof parsed.bytes; i++) {
        int high = g_ascii_xdigit_value(text[2 * i]), low = g_ascii_xdigit_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return FALSE;
        parsed.bytes[i] = (guint8)(high << 4 | low);
    }
    *id = parsed;
    return TRUE;
}

Pattern *pattern_ref(const Pattern *pattern) {
    Pattern *shared = (Pattern *)pattern; /* all but the counter is constant */
    g_atomic_int_inc(&shared->refs);
    return shared;
}

void pattern_unref(Pattern *pattern) {
    if (pattern != NULL && g_atomic_int_dec_and_test(&pattern->refs)) g_free(pattern);
}

gboolean pattern_incomplete(const Pattern *pattern) {
    for (guint32 i = 1; i < pattern->n_nodes; i = pattern->nodes[i].end) {
        if (pattern->nodes[i].name == NAME_MISSING) return TRUE;
    }
    return FALSE;
}

void pattern_encode(const Pattern *pattern, GByteArray *out) {
    append_u8(out, PATTERN_VERSION);
    append_bytes(out, pattern->id.bytes, sizeof pattern->id.bytes);
    append_varint(out, pattern->n_nodes);
    for (guint32 i = 1; i < pattern->n_nodes; i++) {
        const PatternNode *node = &pattern->nodes[i];
        append_varint(out, (guint32)(node->name + 1));
        append_u8(out, (guint8)node->role);
        append_varint(out, node->end - i - 1);
    }
}

/* parent: the node that is open where node i begins. */
static gboolean decode_node(Pattern *pattern, guint32 i, guint32 parent, ByteReader *reader) {
    guint64 name = read_varint(reader);
    guint8 role = read_u8(reader);
    guint64 below = read_varint(reader);
    if (reader->failed || name > G_MAXUINT32 || role >= ROLE_COUNT) return FALSE;
    if (below >= pattern->nodes[parent].end - i) return FALSE;
    PatternNode *node = &pattern->nodes[i];
    *node = (PatternNode){(guint32)name - 1, role, parent, i + 1 + (guint32)below};
    /* Placeholders stand right below the trace. */
    return node->name != NAME_MISSING || parent == 0;
}

Pattern *pattern_decode(Bytes stored, GError **error) {
    ByteReader reader = byte_reader(stored.data, stored.size_bytes);
    guint8 version = read_u8(&reader);
    const guint8 *id = read_bytes(&reader, sizeof(PatternId));
    guint64 n = read_varint(&reader);

    if (!reader.failed && version > PATTERN_VERSION) {
        fail(error, PLUMB_ERROR_VERSION, "pattern of version %u; this program knows %u", version, PATTERN_VERSION);
        return NULL;
    }
    /* A node takes three bytes at least. */
    if (reader.failed || version != PATTERN_VERSION || n < 1 || n - 1 > reader_left(&reader) / 3 || n >= G_MAXUINT32) {
        fail(error, PLUMB_ERROR_CORRUPT, "pattern of %zu bytes: malformed head", stored.size_bytes);
        return NULL;
    }

    g_autoptr(Pattern) pattern = g_malloc(sizeof(Pattern) + n * sizeof(PatternNode));
    pattern->refs = 1;
    pattern->n_nodes = (guint32)n;
    memcpy(pattern->id.bytes, id, sizeof pattern->id.bytes);
    pattern->nodes[0] = (PatternNode){NAME_TRACE, ROLE_LOCAL, 0, (guint32)n};

    gboolean fine = TRUE;
    for (guint32 i = 1, open = 0; i < n && fine; i++) {
        while (pattern->nodes[open].end <= i) open = pattern->nodes[open].parent;
        fine = decode_node(pattern, i, open, &reader);
        open = i;
    }

    if (!fine || reader_left(&reader) != 0) {
        fail(error, PLUMB_ERROR_CORRUPT, "pattern of %zu bytes: malformed node", stored.size_bytes);
        return NULL;
    }
    return g_steal_pointer(&pattern);
}
