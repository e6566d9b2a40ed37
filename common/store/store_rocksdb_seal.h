/* The seal of a store that was closed in order; private to common/store.
 *
 * RocksDB's MANIFEST lists the tables that make up a database, one record for each change. Cut at the end of a record
 * it is a list of some earlier moment, which RocksDB takes for the truth, deleting the tables that are not on it. The
 * seal is a file, SEAL, with the name, size and checksum (XXH3) of the MANIFEST at the last orderly close: while that
 * one is still the current one, it must begin with these bytes. A record whose length was damaged is taken for the end,
 * too, so the size alone does not tell. (Every opening for writing begins a new MANIFEST, so the seal of a store that
 * was then killed says nothing about it.) */
#pragma once

#include <glib.h>

/* After the database was closed with everything in tables. Best effort. */
void seal_write(const char *path);
/* TRUE when the seal holds or says nothing; CORRUPT when the MANIFEST is not what was sealed. */
gboolean seal_check(const char *path, GError **error);
