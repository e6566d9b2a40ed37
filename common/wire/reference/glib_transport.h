/* A Thrift transport over memory: reads by walking a pointer (c_glib's own memory buffer moves all that is left at each
 * read), writes by appending. Private to common/wire. */
#pragma once

#include <thrift/c_glib/protocol/thrift_protocol.h>

#include "common/wire/frame.h"

/* A protocol object over bytes to read; they must outlive it. g_object_unref() frees it with its transport. */
ThriftProtocol *glib_protocol_reader(Bytes bytes, WireProtocol protocol);
/* How much of the bytes was not read. */
gsize glib_protocol_left(ThriftProtocol *protocol);
/* A protocol object that appends to 'out', which must outlive it. */
ThriftProtocol *glib_protocol_writer(GByteArray *out, WireProtocol protocol);

/* Finalizers of c_glib's generated classes do not call GObject's, and so leak a little of each object: this makes them.
 * One thread at a time. */
void glib_repair_class(GType type);
