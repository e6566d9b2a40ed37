/* The two protocols of Thrift that a frame may hold. */
#pragma once

#define THRIFT_BINARY_MARK  0x80 /* first byte of strict binary */
#define THRIFT_COMPACT_MARK 0x82

typedef enum { PROTOCOL_BINARY, PROTOCOL_COMPACT } WireProtocol;
