/* What can be read of a damaged table file; private to common/store, and of no thread's.
 *
 * A table (RocksDB's block-based format, version 5) is a row of blocks, each with a checksum behind it:
 *
 *   data block ... meta blocks ... index ... footer
 *
 * The footer has 53 bytes: the checksum's kind, places of the meta index and the index, version, magic number.
 *
 * The index lists the data blocks; or, where there are filters, it lists blocks that do. A data block that fails its
 * check is put out of use: the copy has an empty block there, of the same size, so that all places stay true. The rest
 * of the table can then be read, and merged with others, as ever. */
#pragma once

#include <glib.h>

typedef struct TableMended {
    guint blocks;       /* that are empty now */
    guint64 lost_bytes; /* of them, and of what lists them */
} TableMended;

/* Puts a copy of the file, with what can be read of it, in its place; the file as it was is FILE.damaged then (what is
 * there by that name stays). FALSE with nothing changed when all data blocks can be read, or no index (CORRUPT), or the
 * copy cannot be made. */
gboolean table_mend(const char *folder, const char *file, TableMended *mended, GError **error);
#define TABLE_DAMAGED_END ".damaged"
