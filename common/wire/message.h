/* Thrift messages of our service, decoded and encoded on bytes.
 *
 * The hot call, submit, is decoded in one pass over the frame, both protocols, with no allocation but the growth of the
 * batch's arrays; strings are left where they are in the frame (batch_decode.c). submitPlain and the replies use the
 * same bounded primitives (thrift_read.h, thrift_write.h). Thrift's own library is not fit for bytes of strangers and
 * leaks; it is the reference that tests hold all this against (reference.h). */
#pragma once

#include "common/model/batch.h"
#include "common/model/spark_records.h"
#include "common/wire/frame.h"

#define WIRE_VERSION 3

typedef enum {
    CALL_SUBMIT,
    CALL_SUBMIT_PLAIN,
    CALL_SUBMIT_RECORDS,
    CALL_LOG,
    CALL_WRITE_SPANS, /* of HRPC (htraced/hrpc.h) */
    CALL_UNKNOWN,
} WireCall;

typedef struct WireHeader {
    WireCall call;
    gint32 sequence; /* Thrift's, echoed in the reply */
    gboolean oneway;
    WireProtocol protocol;
    char method[64]; /* zero-terminated, cut when longer */
    Bytes body;      /* the argument struct, in the frame */
    gboolean hrpc;   /* it came by HRPC, and is answered so */
    guint32 hrpc_method;
    guint64 hrpc_sequence;
} WireHeader;

/* Error INPUT when the payload does not start with a Thrift call. */
gboolean wire_header_decode(Bytes frame, WireHeader *header, GError **error);

typedef struct WireVersions {
    gint32 version; /* what the sender speaks */
    gint32 needs;   /* what the receiver must know; 1 when absent */
} WireVersions;

/* Arguments of submit into batch (cleared first), whose strings then point into the frame. Errors: INPUT (malformed,
 * bytes missing or left over, index outside the string table, text that is not UTF-8), LIMIT; the batch is then empty.
 * A span that lacks one of its required fields is decoded with the invalid id (0,0): it alone is to be refused. A batch
 * that needs a newer version than WIRE_VERSION leaves the batch empty: look at versions->needs first. */
gboolean wire_batch_decode(const WireHeader *header, SpanBatch *batch, WireVersions *versions, GError **error);

/* Arguments of submitPlain; strings are copied into the batch. Errors as above; a span whose id or a parent is not 32
 * hex digits has the invalid id too. */
gboolean wire_plain_decode(const WireHeader *header, SpanBatch *batch, GError **error);

/* Arguments of submitRecords (cleared first); texts are copied. Errors as of wire_batch_decode. A record that lacks
 * what it cannot be kept without is left out and counted in *refused. */
gboolean wire_records_decode(const WireHeader *header, SparkRecords *records, WireVersions *versions, guint32 *refused,
                             GError **error);

typedef enum { REPLY_OK, REPLY_TRY_LATER, REPLY_REFUSED, REPLY_VERSION } ReplyStatus;

typedef struct WireReply {
    ReplyStatus status;
    gint32 accepted;
    gint32 refused;
    gint32 wait_ms;
    gint32 version;
    char message[256];    /* empty: none */
    BatchString sampling; /* borrowed, of a decoded reply from its frame; empty: the receiver asks for nothing */
} WireReply;

/* Appends a whole frame (length included) with the reply to the call of 'header'. */
void wire_reply_encode(const WireHeader *header, const WireReply *reply, GByteArray *out);
/* The same of Scribe's Log (otlp/scribe.h), which was taken. Its own "try later" is not used: HTrace's receiver for
 * Zipkin does not look at it, and would lose the spans. Of an exception all clients know that they have to send again.
 */
void wire_log_reply_encode(const WireHeader *header, GByteArray *out);
/* Appends a frame with a Thrift application exception (unknown method, malformed arguments). */
void wire_exception_encode(const WireHeader *header, const char *message, GByteArray *out);

/* The sender's side: appends a whole frame with a submit call; decodes the reply's payload. */
void wire_batch_encode(const SpanBatch *batch, WireProtocol protocol, gint32 sequence, GByteArray *out);
/* The same in a pack, which takes fewer bytes the more spans have in common; its protocol is the compact one. */
void wire_batch_encode_packed(const SpanBatch *batch, GByteArray *out);
/* Appends a whole frame with a submitRecords call. The batch must hold to the limits (LIMIT_BATCH_RECORDS,
 * LIMIT_RECORD_ENTRIES) and its frame to LIMIT_FRAME_BYTES. */
void wire_records_encode(const SparkRecords *records, WireProtocol protocol, gint32 sequence, GByteArray *out);
/* Errors: INPUT, VERSION (a status unknown here), PEER (the answer is an exception; its message is in the error's). */
gboolean wire_reply_decode(Bytes frame, WireReply *reply, GError **error);
