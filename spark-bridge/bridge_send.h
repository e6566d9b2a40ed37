/* Hands batches of records to plumbd. */
#pragma once

#include "common/base/error.h"
#include "common/model/spark_records.h"
#include "common/wire/secure.h"

typedef struct BridgeSender BridgeSender;

typedef struct BridgeSenderOptions {
    const char *receiver;  /* "host:port" */
    WireSecurity security; /* its files are used as long as the sender */
    gboolean patient;      /* waits for a plumbd that is away for as long as it takes, or until stopped */
    gboolean (*stopped)(void *arg);
    void (*say)(void *arg, const char *what);
    void *arg;
} BridgeSenderOptions;

BridgeSender *bridge_sender_new(const BridgeSenderOptions *options);
void bridge_sender_free(BridgeSender *sender);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BridgeSender, bridge_sender_free)

/* Returns when plumbd has acknowledged the records. Those it refuses are counted: they would be refused again. */
gboolean bridge_sender_deliver(BridgeSender *sender, const SparkRecords *records, GError **error);

typedef struct BridgeSent {
    guint64 sent, accepted, refused;
    const char *refused_why; /* of the first; NULL: none was */
    gboolean failed;         /* the last delivery */
} BridgeSent;
BridgeSent bridge_sender_sent(const BridgeSender *sender);
