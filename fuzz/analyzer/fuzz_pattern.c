/* Stored patterns. What is accepted is a tree in pre-order, and is stored again as the same pattern. */
#include <string.h>

#include "analyzer/calltree/pattern.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(Pattern) pattern = pattern_decode((Bytes){data, size}, NULL);
    if (pattern == NULL) return 0;
    g_assert_cmpuint(pattern->n_nodes, >, 0);
    for (guint32 i = 0; i < pattern->n_nodes; i++) {
        const PatternNode *node = &pattern->nodes[i];
        g_assert_true(node->end > i && node->end <= pattern->n_nodes);
        if (i == 0) continue;
        g_assert_true(node->parent < i && node->end <= pattern->nodes[node->parent].end);
        g_assert_cmpuint(node->role, <, ROLE_COUNT);
    }
    g_autoptr(GByteArray) stored = g_byte_array_new();
    pattern_encode(pattern, stored);
    g_autoptr(Pattern) again = pattern_decode((Bytes){stored->data, stored->len}, NULL);
    g_assert_nonnull(again);
    g_assert_cmpuint(again->n_nodes, ==, pattern->n_nodes);
    g_assert_true(memcmp(&again->id, &pattern->id, sizeof again->id) == 0);
    g_assert_true(memcmp(again->nodes, pattern->nodes, pattern->n_nodes * sizeof(PatternNode)) == 0);
    return 0;
}
