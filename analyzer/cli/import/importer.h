/* Spans from files of HTrace JSON, and the records of Spark among them (wire/record_json.h), to plumbd over Thrift.
 * Computes and sends; never prints. */
#pragma once

#include <jansson.h>

#include "analyzer/cli/format/progress.h"
#include "common/wire/secure.h"

#define IMPORT_BATCH_SPANS 5000

typedef struct ImportOptions {
    const char *thrift;           /* "host:port" of plumbd's span port */
    const WireSecurity *security; /* of the connection to it */
    gboolean follow;              /* wait for more at the end of the (one) file, until SIGINT or SIGTERM */
    Progress *progress;
    /* Following, plumbd has gone or come back: for a person. */
    void (*say)(void *arg, const char *what);
    void *arg;
} ImportOptions;

typedef struct Importer Importer;

/* Connects. Errors: CONFIG, PEER. */
Importer *importer_new(const ImportOptions *options, GError **error);
void importer_free(Importer *importer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Importer, importer_free)

/* Sends all spans of a file ("-": standard input). FALSE when the file could not be read to its end (IO, INPUT) or
 * plumbd does not take spans any more (PEER, BUSY, VERSION); what was sent before is counted and stays. */
gboolean importer_file(Importer *importer, const char *path, GError **error);

/* Was everything taken: no bad value, no span refused? */
gboolean importer_clean(const Importer *importer);
/* {"files": [{"file", "bytes", "spans", "records", "bad_values", "first_error", "error"}], "spans_sent",
 * "spans_accepted", "spans_refused", "records_sent", "records_accepted", "records_refused", "refused_message",
 * "bad_values", "duration_ns"}; what is said of records only when there are any. A new reference. */
json_t *importer_report(const Importer *importer);
