/* What the files of this folder and those below it share, and tests of them. */
#pragma once

#include "common/wire/message.h"
#include "common/wire/thrift_read.h"

/* Flags of spans that this version knows; what a newer sender sets beyond them says nothing here. */
#define WIRE_SPAN_FLAGS ((guint32)SPAN_MILLISECONDS)

/* As wire_reply_decode; also tells which call it answers. */
gboolean reply_decode(Bytes frame, WireReply *reply, gint32 *sequence, GError **error);

/* What a message begins with. */
enum { KIND_CALL = 1, KIND_REPLY = 2, KIND_EXCEPTION = 3, KIND_ONEWAY = 4 };
typedef struct ThriftHead {
    guint8 kind;
    gint32 sequence;
    BatchString method;
} ThriftHead;
/* The rest of the bytes is the struct of arguments or results. */
gboolean thrift_head(ThriftReader *r, ThriftHead *head);

/* Head of a list, which must be of that type (unless empty), at most 'limit' long, and fit the bytes that are left when
 * each element takes least_bytes. */
gboolean thrift_list_of(ThriftReader *r, ThriftTypeCode type, gsize least_bytes, guint32 limit, guint32 *n);
/* A string of at most limit_bytes that is valid text (batch_text_valid). */
void thrift_text(ThriftReader *r, guint32 limit_bytes, BatchString *text);
/* Faults unless all bits of 'required' are in 'seen'. */
void thrift_require(ThriftReader *r, guint32 seen, guint32 required);
#define SEEN(id) (1u << (id))

/* A note of a span: the same struct in both calls. */
void thrift_note(ThriftReader *r, BatchNote *note);

/* Number of the list of a kind of records in a RecordBatch. */
#define WIRE_RECORDS_FIELD(kind) ((gint16)((gint)(kind) + 3))

/* A submit call up to its spans: message head, versions, strings and the head of a list of spans. */
typedef struct BatchHead {
    WireProtocol protocol;
    gint32 sequence;
    gint32 needs; /* 0: it is not said */
    guint32 n_spans;
} BatchHead;
void batch_encode_head(const SpanBatch *batch, const BatchHead *head, GByteArray *out);
/* Behind the spans. */
void batch_encode_sender(const BatchSender *sender, WireProtocol protocol, GByteArray *out);

/* The spans of a list of packs, after those that the batch has. Its table of strings is complete; names that stand in
 * packs are added to it. */
void packs_decode(ThriftReader *list, SpanBatch *batch);

/* Is the whole of the bytes one struct, with nothing left over? */
gboolean thrift_check_struct(Bytes bytes, WireProtocol protocol, GError **error); /* for tests */
