/* A login by SASL before the first frame, in Thrift's framing: a status (1 byte), a length (4 bytes, big-endian), that
 * many bytes. The client begins with START and a mechanism's name; then come OK or COMPLETE with what the mechanism
 * says; the answer is COMPLETE, or ERROR with a text. Then the stream is frames. Works on bytes alone.
 *
 * We know PLAIN: "\0user\0password", one message; and GSSAPI (receiver/secure/kerberos.h). */
#pragma once

#include "common/base/bytes.h"

#define SASL_HEAD_BYTES 5u
/* Tickets are long, names and tokens far shorter. */
#define SASL_MAX_BYTES 65536u

typedef enum { SASL_START = 1, SASL_OK = 2, SASL_BAD = 3, SASL_ERROR = 4, SASL_COMPLETE = 5 } SaslStatus;

typedef enum {
    SASL_FRAMES,  /* that is no login: frames begin */
    SASL_PARTIAL, /* more bytes are needed */
    SASL_WHOLE,   /* message is set */
    SASL_GARBAGE,
} SaslState;

typedef struct SaslMessage {
    SaslStatus status;
    Bytes payload;      /* a view into the stream */
    gsize needed_bytes; /* of SASL_PARTIAL: how long the stream must get; of SASL_WHOLE: what the message took */
} SaslMessage;

/* The message at the start of a stream. begun: START has come, so no frame can. */
SaslState sasl_cut(Bytes stream, gboolean begun, SaslMessage *message);
gboolean sasl_is_plain(const SaslMessage *start);
gboolean sasl_is_gssapi(const SaslMessage *start);
/* Name and password of a message of PLAIN; to be freed. FALSE: it is none, and nothing changed. */
gboolean sasl_plain_parse(Bytes payload, char **user, char **password);
void sasl_append(GByteArray *out, SaslStatus status, const char *text);
void sasl_append_bytes(GByteArray *out, SaslStatus status, Bytes payload);
