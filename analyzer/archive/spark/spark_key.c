#include "analyzer/archive/spark/spark_key.h"

#include <string.h>

#include "common/base/fnv.h"
#include "common/base/mix64.h"

guint64 spark_hash_text(const char *text) { return mix64(fnv64(FNV64_BASIS, text, strlen(text))); }

/* Of all fields that tell the record apart but its owner, so that it does not matter which of them the key has too. */
static guint64 hash_rest(SparkKind kind, const void *record) {
    const SparkForm *form = spark_form(kind);
    guint64 hash = FNV64_BASIS;
    for (guint i = 1; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        const void *value = (const guint8 *)record + field->offset;
        if (!field->key) continue;
        if (field->type == FIELD_TEXT) {
            const char *text = *(const char *const *)value;
            hash = fnv64(hash, text != NULL ? text : "\xff", text != NULL ? strlen(text) + 1 : 1);
        } else {
            const gint64 number = field->type == FIELD_I64 ? *(const gint64 *)value : *(const gint32 *)value;
            const guint64 bytes = GUINT64_TO_LE((guint64)number);
            hash = fnv64(hash, &bytes, sizeof bytes);
        }
    }
    return mix64(hash);
}

static void put_be(SparkKey *key, guint64 value, guint size_bytes) {
    for (guint i = size_bytes; i-- > 0;) key->bytes[key->size_bytes++] = (guint8)(value >> (8 * i));
}

void spark_key_u32(SparkKey *key, gint64 value) { put_be(key, (guint32)value, 4); }
void spark_key_u64(SparkKey *key, gint64 value) { put_be(key, (guint64)value, 8); }

SparkKey spark_owner_key(OwnerKind kind, guint64 hash) {
    SparkKey key = {.size_bytes = 0};
    put_be(&key, SPARK_OWNER_MARK, 1);
    put_be(&key, (guint64)kind, 1);
    put_be(&key, hash, 8);
    return key;
}

SparkKey spark_prefix(SparkKind kind, guint64 owner) {
    SparkKey key = {.size_bytes = 0};
    put_be(&key, SPARK_KIND_MARK + (guint64)kind, 1);
    put_be(&key, owner, 8);
    return key;
}

SparkKey spark_record_key(SparkKind kind, guint64 owner, const void *record) {
    SparkKey key = spark_prefix(kind, owner);

    switch (kind) {
    case SPARK_JOB: spark_key_u64(&key, ((const SparkJob *)record)->job); break;
    case SPARK_STAGE:
        spark_key_u32(&key, ((const SparkStage *)record)->stage);
        spark_key_u32(&key, ((const SparkStage *)record)->attempt);
        break;
    case SPARK_TASK:
        spark_key_u32(&key, ((const SparkTask *)record)->stage);
        spark_key_u32(&key, ((const SparkTask *)record)->stage_attempt);
        spark_key_u64(&key, ((const SparkTask *)record)->task);
        break;
    case SPARK_OPERATION:
        spark_key_u32(&key, ((const SparkOperation *)record)->stage);
        spark_key_u32(&key, ((const SparkOperation *)record)->stage_attempt);
        spark_key_u64(&key, ((const SparkOperation *)record)->task);
        break;
    case SPARK_SAMPLE: spark_key_u64(&key, ((const HostSample *)record)->time_ns); break;
    case SPARK_MARK: spark_key_u64(&key, ((const HostMark *)record)->begin_ns); break;
    case SPARK_SPLIT: spark_key_u64(&key, ((const SparkSplit *)record)->task); break;
    case SPARK_LINK: spark_key_u64(&key, ((const SparkLink *)record)->task); break;
    case SPARK_QUERY:
        spark_key_u64(&key, ((const SparkQuery *)record)->query);
        spark_key_u64(&key, ((const SparkQuery *)record)->part);
        break;
    case SPARK_PROFILE: spark_key_u64(&key, ((const SparkProfile *)record)->profile); break;
    default: break;
    }

    if (kind != SPARK_APP && kind != SPARK_JOB && kind != SPARK_STAGE && kind != SPARK_TASK && kind != SPARK_QUERY &&
        kind != SPARK_PROFILE)
        put_be(&key, hash_rest(kind, record), 8);
    return key;
}

SparkKey spark_trace_prefix(guint64 trace) {
    SparkKey key = {.size_bytes = 0};
    put_be(&key, SPARK_TRACE_MARK, 1);
    put_be(&key, trace, 8);
    return key;
}

SparkKey spark_trace_key(guint64 owner, const SparkLink *link) {
    SparkKey key = spark_trace_prefix((guint64)link->trace);
    put_be(&key, owner, 8);
    spark_key_u64(&key, link->task);
    put_be(&key, hash_rest(SPARK_LINK, link), 8);
    return key;
}

SparkKey spark_key_after(const SparkKey *prefix) {
    SparkKey key = *prefix;
    while (key.size_bytes > 0 && key.bytes[key.size_bytes - 1] == 0xff) key.size_bytes--;
    if (key.size_bytes > 0) key.bytes[key.size_bytes - 1]++; /* the first byte is never 255 */
    return key;
}

void spark_owner_encode(const SparkOwner *owner, GByteArray *out) {
    append_varint(out, strlen(owner->name));
    append_bytes(out, owner->name, strlen(owner->name));
    append_zigzag(out, owner->written_ms);
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) append_varint(out, owner->records[kind]);
}

/* Kinds that were added since are at its end, and absent in older ones. */
gboolean spark_owner_decode(Bytes value, SparkRecords *into, SparkOwner *owner) {
    ByteReader r = byte_reader(value.data, value.size_bytes);
    SparkOwner read = {.name = NULL};
    const guint64 length = read_varint(&r);
    const guint8 *name = length <= reader_left(&r) ? read_bytes(&r, (gsize)length) : NULL;
    if (name == NULL) return FALSE;
    read.written_ms = read_zigzag(&r);
    for (guint kind = 0; kind < SPARK_KIND_COUNT && reader_left(&r) > 0; kind++) read.records[kind] = read_varint(&r);
    if (r.failed) return FALSE;
    read.name = spark_text_shared(into, (const char *)name, (gsize)length);
    *owner = read;
    return TRUE;
}
