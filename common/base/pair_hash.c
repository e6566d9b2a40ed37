#include "common/base/pair_hash.h"

/* By the golden ratio (Knuth, The Art of Computer Programming 3, 6.4): the upper half of the product has all bits. */
guint pair_hash(gconstpointer key) {
    return (guint)(*(const guint64 *)key * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 32);
}
