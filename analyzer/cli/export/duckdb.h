/* The program duckdb (duckdb.org), which makes a Parquet file of rows: JSON lines that it reads from its standard
 * input. Debian has no library that writes Parquet. The program is started with a list of arguments, never by a shell,
 * and reads no file of the user's settings. */
#pragma once

#include <signal.h>

#include "common/base/bytes.h"

typedef struct DuckDb DuckDb;

/* The program: the one named, else the one in the path. A new string; NULL: NOT_FOUND, which says how to get it. */
char *duckdb_find(const char *named, GError **error);

/* select: a SELECT from {rows}, for which the rows stand; columns: "name: 'TYPE', ..." of these. path: of the file,
 * which is there already. IO. stop: set by a signal; whatever waits for the program then fails. */
typedef struct DuckDbTable {
    const char *select, *columns;
} DuckDbTable;
DuckDb *duckdb_start(const char *program, const DuckDbTable *table, const char *path, const volatile sig_atomic_t *stop,
                     GError **error);
/* Lines, cut anywhere. IO: it has ended, and why. */
gboolean duckdb_write(DuckDb *duckdb, Bytes lines, GError **error);
/* No more lines: waits until the file is written. IO, with what the program said. */
gboolean duckdb_finish(DuckDb *duckdb, GError **error);
/* Ends the program when it still runs. */
void duckdb_free(DuckDb *duckdb);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DuckDb, duckdb_free)
