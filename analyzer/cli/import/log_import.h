/* Event logs of Spark straight into a store, without plumbd: recorded logs can be looked into where nothing runs. */
#pragma once

#include <jansson.h>

#include "analyzer/cli/format/progress.h"

typedef struct LogImportOptions {
    const char *store; /* folder; made when it is not there. plumbd must not have it open */
    Progress *progress;
    /* Damage in a log, for a person. */
    void (*say)(void *arg, const char *what);
    void *arg;
} LogImportOptions;

typedef struct LogImport LogImport;

/* Opens the store. Errors: BUSY (plumbd has it; the message says what to do), IO, NO_SPACE, VERSION, CORRUPT. */
LogImport *log_import_new(const LogImportOptions *options, GError **error);
void log_import_free(LogImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LogImport, log_import_free)

/* Reads a log, or a folder of logs, to its end. What was read before an error stays. */
gboolean log_import_path(LogImport *import, const char *path, GError **error);
/* Makes sure that everything is on disk. */
gboolean log_import_finish(LogImport *import, GError **error);

/* Was everything taken: no broken line, no log that could not be read, no record refused? */
gboolean log_import_clean(const LogImport *import);
/* {"logs": [{"log", "app", "lines", "bad_lines", "error"}], "records": {kind: count}, "added", "changed", "unchanged",
 * "refused", "duration_ns"}; a new reference. */
json_t *log_import_report(const LogImport *import);
