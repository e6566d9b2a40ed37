#include "analyzer/archive/index/terms.h"

#include <string.h>

/* What a number stands for goes into it, so that a host and a pattern of one number differ. */
typedef enum { SEED_PATTERN = 1, SEED_HOST, SEED_COMPONENT, SEED_VALUE } TermSeed;

static guint64 mix(guint64 h) {
    h ^= h >> 32;
    h *= G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return h;
}

/* Never in the buckets of TERM_ANYTHING and of durations. */
static Term term_of(guint64 hash) {
    guint32 bucket = 1 + (guint32)((hash >> 32) % (TERM_BUCKETS - 1));
    return bucket << 16 | (guint32)(hash & 0xffff);
}

static guint64 hash_text(guint64 seed, const char *text, gsize length) {
    guint64 h = mix(seed ^ (guint64)length << 8), word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        h = mix(h ^ GUINT64_FROM_LE(word)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    }
    word = 0;
    memcpy(&word, text, length);
    return mix(mix(h ^ GUINT64_FROM_LE(word)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15));
}

static Term term_number(TermSeed seed, guint64 number) {
    return term_of(mix(mix((guint64)seed << 56 | number) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)));
}

Term term_pattern(guint32 number) { return term_number(SEED_PATTERN, number); }

Term term_host(guint32 host) { return term_number(SEED_HOST, host); }

Term term_component(const char *text, gsize length) { return term_of(hash_text(SEED_COMPONENT, text, length)); }

Term term_value(guint32 key, const char *text, gsize length) {
    return term_of(hash_text(SEED_VALUE | (guint64)key << 8, text, length));
}

guint term_duration_step(gint64 duration_ns) {
    if (duration_ns < 2) return 0;
    guint power = 63u - (guint)__builtin_clzll((guint64)duration_ns);
    return 2 * power + ((guint64)duration_ns >> (power - 1) & 1);
}

Term term_duration(guint step) { return TERM_BUCKET_DURATION << 16 | step; }

const char *path_begin(const char *text, gsize length) {
    if (length == 0) return NULL;
    if (text[0] == '/') return text;
    if (!term_value_has(text, length)) return NULL;
    const char *colon = memchr(text, ':', MIN(length, 16u)), *end = text + length;
    if (colon == NULL || end - colon < 4 || colon[1] != '/' || colon[2] != '/') return NULL;
    return memchr(colon + 3, '/', (gsize)(end - colon - 3));
}

gboolean path_next(const char **at, const char *end, const char **component, gsize *length) {
    const char *from = *at;
    while (from < end && *from == '/') from++;
    if (from == end) return FALSE;
    const char *slash = memchr(from, '/', (gsize)(end - from)), *to = slash ? slash : end;
    *component = from;
    *length = (gsize)(to - from);
    *at = to;
    return TRUE;
}
