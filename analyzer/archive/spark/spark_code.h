/* Values of the family 'spark': records of Spark in bytes, by the tables of their fields (common/model/spark_fields.h).
 *
 * A record is its known fields in ascending order, each a varint 4 * number + class, and by class:
 *   0  a varint, zig-zag coded, of integers and enums
 *   1  eight bytes, the lowest first, of a double
 *   2  varint length, then so many bytes: a text; a list of numbers (zig-zag varints); an array, as a varint whose bits
 *      tell which of its numbers are known, and those (integers as zig-zag varints, doubles as varint 2 * n when they
 *      are whole and small, else as varint 1 and eight bytes); a list of structs, each a varint length and its fields
 * The first field of all, the application's key, is left out: it is in the key. Fields with unknown numbers are passed
 * over, so that a store can be read by an older program. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_fields.h"
#include "common/model/spark_records.h"

/* Appends. owned: the first field is left out. */
void spark_encode(const SparkForm *form, const void *record, gboolean owned, GByteArray *out);
/* Reads into *record, texts and lists into the memory of 'into'. FALSE: malformed. owner: the first field (NULL: it is
 * among the others). */
gboolean spark_decode(const SparkForm *form, Bytes value, const char *owner, SparkRecords *into, void *record);
