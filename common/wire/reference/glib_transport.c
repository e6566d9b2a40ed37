#include "common/wire/reference/glib_transport.h"

#include <string.h>
#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>
#include <thrift/c_glib/transport/thrift_transport.h>

typedef struct BytesTransport {
    ThriftTransport parent;
    const guint8 *at, *end; /* to read */
    GByteArray *out;        /* to write; borrowed */
} BytesTransport;

typedef struct BytesTransportClass {
    ThriftTransportClass parent;
} BytesTransportClass;

static GType bytes_transport_get_type(void);
G_DEFINE_TYPE(BytesTransport, bytes_transport, THRIFT_TYPE_TRANSPORT)

static gboolean always(ThriftTransport *transport, GError **error) {
    (void)transport;
    (void)error;
    return TRUE;
}

static gboolean is_open(ThriftTransport *transport) {
    (void)transport;
    return TRUE;
}

static gboolean peek(ThriftTransport *transport, GError **error) {
    (void)error;
    const BytesTransport *bytes = (const BytesTransport *)transport;
    return bytes->at < bytes->end;
}

static gint32 read_bytes_of(ThriftTransport *transport, gpointer buffer, guint32 length, GError **error) {
    BytesTransport *bytes = (BytesTransport *)transport;
    if (length > (gsize)(bytes->end - bytes->at)) {
        g_set_error_literal(error, THRIFT_TRANSPORT_ERROR, THRIFT_TRANSPORT_ERROR_RECEIVE, "bytes are missing");
        return -1;
    }
    if (length > 0) memcpy(buffer, bytes->at, length);
    bytes->at += length;
    return (gint32)length;
}

static gboolean write_bytes_of(ThriftTransport *transport, const gpointer buffer, const guint32 length,
                               GError **error) {
    (void)error;
    g_byte_array_append(((BytesTransport *)transport)->out, buffer, length);
    return TRUE;
}

static void bytes_transport_class_init(BytesTransportClass *class) {
    ThriftTransportClass *transport = THRIFT_TRANSPORT_CLASS(class);
    transport->is_open = is_open;
    transport->peek = peek;
    transport->open = always;
    transport->close = always;
    transport->read = read_bytes_of;
    transport->read_all = read_bytes_of;
    transport->read_end = always;
    transport->write = write_bytes_of;
    transport->write_end = always;
    transport->flush = always;
}

static void bytes_transport_init(BytesTransport *transport) { (void)transport; }

static ThriftProtocol *make_protocol(BytesTransport *transport, WireProtocol protocol) {
    const GType type = protocol == PROTOCOL_COMPACT ? THRIFT_TYPE_COMPACT_PROTOCOL : THRIFT_TYPE_BINARY_PROTOCOL;
    ThriftProtocol *made = g_object_new(type, "transport", transport, NULL);
    g_object_unref(transport); /* the protocol holds it */
    return made;
}

ThriftProtocol *glib_protocol_reader(Bytes bytes, WireProtocol protocol) {
    BytesTransport *transport = g_object_new(bytes_transport_get_type(), NULL);
    transport->at = bytes.data;
    transport->end = transport->at + bytes.size_bytes;
    return make_protocol(transport, protocol);
}

gsize glib_protocol_left(ThriftProtocol *protocol) {
    const BytesTransport *transport = (const BytesTransport *)protocol->transport;
    return (gsize)(transport->end - transport->at);
}

ThriftProtocol *glib_protocol_writer(GByteArray *out, WireProtocol protocol) {
    BytesTransport *transport = g_object_new(bytes_transport_get_type(), NULL);
    transport->out = out;
    return make_protocol(transport, protocol);
}

static GQuark finalizer_quark(void) { return g_quark_from_static_string("plumb-generated-finalizer"); }

typedef void (*Finalizer)(GObject *object);
typedef struct FinalizerBox {
    Finalizer generated;
} FinalizerBox;

static void finalize_whole(GObject *object) {
    const FinalizerBox *box = g_type_get_qdata(G_OBJECT_TYPE(object), finalizer_quark());
    box->generated(object);
    G_OBJECT_CLASS(g_type_class_peek(G_TYPE_OBJECT))->finalize(object);
}

void glib_repair_class(GType type) {
    GObjectClass *class = g_type_class_ref(type); /* kept for good */
    if (class->finalize == finalize_whole) return;
    FinalizerBox *box = g_new(FinalizerBox, 1);
    box->generated = class->finalize;
    g_type_set_qdata(type, finalizer_quark(), box);
    class->finalize = finalize_whole;
}
