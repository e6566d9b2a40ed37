package org.apache.hadoop.tracing;

import io.plumbline.trace.own.OwnTracer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Between Hadoop's tracing and its configuration and messages. */
public class TraceUtils {
    static final String DEFAULT_HADOOP_TRACE_PREFIX = "hadoop.htrace.";
    /** Trace and span, big-endian, 8 bytes each. */
    private static final int CONTEXT_BYTES = 16;

    /** The only place where tracing sees the configuration. {@code conf} may be null. */
    public static TraceConfiguration wrapHadoopConf(final String prefix, final Configuration conf) {
        if (conf != null && prefix != null) {
            OwnTracer.configuration(prefix, conf::get);
        }
        return new TraceConfiguration();
    }

    public static Tracer createAndRegisterTracer(String name) {
        return new Tracer.Builder(name).build();
    }

    /** Null for what is absent or of a form that is not ours. */
    public static SpanContext byteStringToSpanContext(ByteString byteString) {
        if (byteString == null || byteString.size() != CONTEXT_BYTES) {
            return null;
        }
        SpanContext context = new SpanContext(number(byteString, 0), number(byteString, Long.BYTES));
        return context.valid() ? context : null;
    }

    private static long number(ByteString bytes, int at) {
        long number = 0;
        for (int i = at; i < at + Long.BYTES; i++) {
            number = number << Byte.SIZE | bytes.byteAt(i) & 0xff;
        }
        return number;
    }

    /** Empty for null: callers put it into a message, which must not have null. */
    public static ByteString spanContextToByteString(SpanContext context) {
        if (context == null || !context.valid()) {
            return ByteString.EMPTY;
        }
        byte[] bytes = new byte[CONTEXT_BYTES];
        put(bytes, 0, context.trace);
        put(bytes, Long.BYTES, context.span);
        return ByteString.copyFrom(bytes);
    }

    private static void put(byte[] bytes, int at, long number) {
        for (int i = 0; i < Long.BYTES; i++) {
            bytes[at + i] = (byte) (number >>> (Long.SIZE - Byte.SIZE * (i + 1)));
        }
    }
}
