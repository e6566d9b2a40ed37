package io.plumbline.weave.hadoop;

import net.bytebuddy.asm.Advice;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.DataTransferTraceInfoProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RPCTraceInfoProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Code for {@link TraceInfoMessages}, copied into the messages; the classes here are never loaded by an application.
 * Generated code checks arguments before, so what arrives at an exit is not null.
 */
final class TraceInfoAdvice {
    private TraceInfoAdvice() {
    }

    static final class RpcSet {
        @Advice.OnMethodExit
        static void exit(@Advice.This RPCTraceInfoProto.Builder builder, @Advice.Argument(0) ByteString value) {
            if (value.size() == 16) {
                java.nio.ByteBuffer ids = value.asReadOnlyByteBuffer();
                builder.setTraceId(ids.getLong());
                builder.setParentId(ids.getLong());
            }
        }
    }

    static final class TransferSet {
        @Advice.OnMethodExit
        static void exit(@Advice.This DataTransferTraceInfoProto.Builder builder,
                @Advice.Argument(0) ByteString value) {
            if (value.size() == 16) {
                java.nio.ByteBuffer ids = value.asReadOnlyByteBuffer();
                builder.setTraceId(ids.getLong());
                builder.setParentId(ids.getLong());
            }
        }
    }

    static final class RpcHas {
        @Advice.OnMethodExit
        static void exit(@Advice.This RPCTraceInfoProto message, @Advice.Return(readOnly = false) boolean has) {
            has = has || message.hasTraceId() && message.hasParentId();
        }
    }

    static final class TransferHas {
        @Advice.OnMethodExit
        static void exit(@Advice.This DataTransferTraceInfoProto message,
                @Advice.Return(readOnly = false) boolean has) {
            has = has || message.hasTraceId() && message.hasParentId();
        }
    }

    static final class RpcGet {
        @Advice.OnMethodExit
        static void exit(@Advice.This RPCTraceInfoProto message, @Advice.Return(readOnly = false) ByteString context) {
            if (context.isEmpty() && message.hasTraceId() && message.hasParentId()) {
                java.nio.ByteBuffer ids = java.nio.ByteBuffer.allocate(16);
                ids.putLong(message.getTraceId());
                ids.putLong(message.getParentId());
                context = ByteString.copyFrom(ids.array());
            }
        }
    }

    static final class TransferGet {
        @Advice.OnMethodExit
        static void exit(@Advice.This DataTransferTraceInfoProto message,
                @Advice.Return(readOnly = false) ByteString context) {
            if (context.isEmpty() && message.hasTraceId() && message.hasParentId()) {
                java.nio.ByteBuffer ids = java.nio.ByteBuffer.allocate(16);
                ids.putLong(message.getTraceId());
                ids.putLong(message.getParentId());
                context = ByteString.copyFrom(ids.array());
            }
        }
    }
}
