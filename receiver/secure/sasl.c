#include "receiver/secure/sasl.h"

#include <string.h>

#define PLAIN  "PLAIN"
#define GSSAPI "GSSAPI"
/* With these a call of Thrift begins: a frame of 16 MiB begins as START does. */
#define CALL_BINARY  0x80
#define CALL_COMPACT 0x82

SaslState sasl_cut(Bytes stream, gboolean begun, SaslMessage *message) {
    const guint8 *data = stream.data;
    *message = (SaslMessage){.needed_bytes = SASL_HEAD_BYTES};
    if (stream.size_bytes == 0) return SASL_PARTIAL;
    if (!begun && data[0] != SASL_START) return SASL_FRAMES;
    if (data[0] < SASL_START || data[0] > SASL_COMPLETE) return SASL_GARBAGE;
    if (stream.size_bytes < SASL_HEAD_BYTES) return SASL_PARTIAL;
    if (!begun && (data[4] == CALL_BINARY || data[4] == CALL_COMPACT)) return SASL_FRAMES;

    const guint32 size = (guint32)data[1] << 24 | (guint32)data[2] << 16 | (guint32)data[3] << 8 | data[4];
    if (size > SASL_MAX_BYTES) return SASL_GARBAGE;
    message->needed_bytes = SASL_HEAD_BYTES + size;
    if (stream.size_bytes < message->needed_bytes) return SASL_PARTIAL;
    message->status = (SaslStatus)data[0];
    message->payload = (Bytes){data + SASL_HEAD_BYTES, size};
    return SASL_WHOLE;
}

static gboolean is_mechanism(const SaslMessage *start, const char *name) {
    return start->status == SASL_START && start->payload.size_bytes == strlen(name) &&
           memcmp(start->payload.data, name, strlen(name)) == 0;
}

gboolean sasl_is_plain(const SaslMessage *start) { return is_mechanism(start, PLAIN); }

gboolean sasl_is_gssapi(const SaslMessage *start) { return is_mechanism(start, GSSAPI); }

gboolean sasl_plain_parse(Bytes payload, char **user, char **password) {
    const char *begin = payload.data, *end = begin + payload.size_bytes;
    const char *first = payload.size_bytes > 0 ? memchr(begin, '\0', payload.size_bytes) : NULL;
    const char *second = first != NULL ? memchr(first + 1, '\0', (gsize)(end - first - 1)) : NULL;
    if (second == NULL || memchr(second + 1, '\0', (gsize)(end - second - 1)) != NULL) return FALSE;
    /* Who wants to be somebody else is not let in. */
    const gsize user_bytes = (gsize)(second - first - 1), other_bytes = (gsize)(first - begin);
    if (other_bytes > 0 && (other_bytes != user_bytes || memcmp(begin, first + 1, user_bytes) != 0)) return FALSE;
    if (user_bytes == 0 || second + 1 == end) return FALSE;
    *user = g_strndup(first + 1, user_bytes);
    *password = g_strndup(second + 1, (gsize)(end - second - 1));
    return TRUE;
}

void sasl_append_bytes(GByteArray *out, SaslStatus status, Bytes payload) {
    const gsize size = payload.size_bytes;
    const guint8 head[SASL_HEAD_BYTES] = {(guint8)status, (guint8)(size >> 24), (guint8)(size >> 16),
                                          (guint8)(size >> 8), (guint8)size};
    g_byte_array_append(out, head, sizeof head);
    g_byte_array_append(out, payload.data, (guint)size);
}

void sasl_append(GByteArray *out, SaslStatus status, const char *text) {
    sasl_append_bytes(out, status, (Bytes){text, strlen(text)});
}
