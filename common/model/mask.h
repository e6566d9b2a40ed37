/* Masking: what is secret in texts of spans and records is replaced before anything is kept. Equal texts stay equal, so
 * that what is counted and compared still is; who lacks the key cannot guess what they were.
 *
 *   path=keep 2; annotation:user=hash; annotation:sql=drop; note=hash; name:SELECT *=hash; record:description=drop
 *
 * What a rule is about, and the first that fits decides:
 *   annotation:KEY  the value of that annotation ('*' in KEY: any text)
 *   note            the messages of spans
 *   name:NAME       the function names that fit
 *   record:FIELD    that field of Spark's records, or the property of that name; not what tells records apart
 *   path            all else that begins with a '/' or with scheme://host, and paths inside of texts
 * What is done:
 *   hash    '~' and 16 hexadecimal digits of HMAC-SHA256(key, text); of a path, each component by itself
 *   keep N  the first N components of a path stay, each further one is hashed: prefixes and equality survive
 *   drop    it is not kept at all; a name becomes "(masked)"
 *
 * What is masked already is not masked again, so senders may mask with the same key. */
#pragma once

#include "common/model/batch.h"
#include "common/model/spark_records.h"

/* Components past this are hashed as one, so that no text grows much. */
#define MASK_COMPONENTS_MAX 64u
#define MASK_KEY_MIN_BYTES  16u
#define MASK_NAME           "(masked)"

typedef struct Mask Mask;
/* Any thread afterwards. CONFIG: which rule is wrong, or the key too short. key: NULL to check the rules alone. */
Mask *mask_new(const char *const *rules, const char *key, gsize key_bytes, GError **error);
void mask_free(Mask *mask);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mask, mask_free)

/* Remembers what it hashed; one thread. The mask must outlive it. */
typedef struct Masker Masker;
Masker *masker_new(const Mask *mask);
void masker_free(Masker *masker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Masker, masker_free)

void masker_batch(Masker *masker, SpanBatch *batch);
void masker_records(Masker *masker, SparkRecords *records);
/* The value of an annotation as a batch has it afterwards; a new string, NULL: it is dropped. */
char *masker_value(Masker *masker, const char *key, const char *value);
/* A text of which nothing but paths is known to be secret; a new string. */
char *masker_text(Masker *masker, const char *text);
