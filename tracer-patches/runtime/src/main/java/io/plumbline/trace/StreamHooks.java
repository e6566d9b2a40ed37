package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Switch;

/**
 * What the output streams of HDFS call when they are woven. Where no span is going on when a stream is opened, the
 * stream itself is the root: all its calls are below one span, which lasts until the stream is closed, and are traced
 * or not as that was decided at its begin. Nothing throws.
 */
public final class StreamHooks {
    private static final String STREAM = "stream";
    private static final String BYTES = "bytes";

    private StreamHooks() {
    }

    /** At the end of each constructor. @param known what an inner one returned. What the stream keeps */
    public static Object opened(Object known, long number) {
        try {
            return known != null || !Switch.on() ? known : Hooks.engine().openedStream(number);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return known;
        }
    }

    /** What begins in this thread belongs to that stream. @param stream what it keeps; null: no more */
    public static void within(Object stream) {
        try {
            Hooks.engine().within(stream);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** @param stream what it keeps; may be null */
    public static void closed(Object stream, Throwable thrown) {
        try {
            if (stream != null) {
                Hooks.engine().closedStream(stream, thrown);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** The current span belongs to the stream of that number. */
    public static void of(long number) {
        annotate(STREAM, number);
    }

    /** As {@link #of}, for the wait until a packet is acknowledged. */
    public static void waits(long number, long seqno) {
        annotate(STREAM, number);
        annotate("seqno", seqno);
    }

    /** A write of that many bytes begins. @param scope of it; null: it has none */
    public static void writes(Object scope, long bytes) {
        if (scope != null) {
            annotate(BYTES, bytes);
        }
    }

    /** The span of a packet has begun. */
    public static void sends(Object packet, long number) {
        annotate(STREAM, number);
        if (packet instanceof Packet) {
            annotate("seqno", ((Packet) packet).plumbSeqno());
        }
        puts(packet);
    }

    /** A packet is put into the socket. */
    public static void puts(Object packet) {
        if (packet instanceof Packet) {
            annotate(BYTES, ((Packet) packet).plumbBytes());
        }
    }

    private static void annotate(String key, long value) {
        try {
            if (Switch.on()) {
                Hooks.engine().annotateCurrent(key, value);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    /** What a woven input stream shows. Its reads are made one at a time. */
    public interface Input {
        /** What it keeps for {@link ReadTrace}; null: nothing. */
        Object plumbReads();

        void plumbReads(Object reads);

        /** Above 0: the read that begins now is the first of a block. */
        int plumbBeyond();
    }

    /** What a woven packet shows. */
    public interface Packet {
        long plumbSeqno();

        /** Of data, without header and checksums. */
        long plumbBytes();
    }
}
