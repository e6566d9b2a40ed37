package io.plumbline.send;

import io.plumbline.wire.Drop;
import io.plumbline.wire.Sender;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;

/**
 * Spans of the queue to a frame with a call of {@code submit}. The spans are translated once, when they are taken; the
 * frame around them is made anew when another version is to be spoken. One thread.
 */
final class BatchEncoder {
    static final String METHOD = "submit";
    private static final TStruct STRUCT = new TStruct("");
    private static final TField ARGUMENT = new TField("batch", TType.STRUCT, (short) 1);
    private static final TField VERSION = new TField("version", TType.I32, (short) 1);
    private static final TField STRINGS = new TField("strings", TType.LIST, (short) 3);
    private static final TField SPANS = new TField("spans", TType.LIST, (short) 4);
    private static final TField SENDER = new TField("sender", TType.STRUCT, (short) 5);
    /** Receivers take 200,000; one span adds at most 4,098. */
    private static final int MAX_STRINGS = 150_000;

    private final SenderOptions options;
    private final FrameBuffer translated = new FrameBuffer();
    private final FrameBuffer frame = new FrameBuffer();
    private final TProtocol out;
    private final SpanTranslator translator;
    /** In the batch. */
    private int spans;
    /** Out of the queue for it. */
    private int taken;
    /** Of the queue, in the batch. */
    private long bytes;

    BatchEncoder(SenderOptions options) {
        this.options = options;
        this.out = options.protocol.over(frame);
        this.translator = new SpanTranslator(options.protocol.writer(translated));
    }

    /**
     * Takes up to a batch's worth of what is ready in the queue. Returns how many spans these are. When it throws, the
     * spans taken are lost ({@link #lost}).
     */
    int take(SpanQueue queue) {
        translated.reset();
        translator.reset();
        spans = 0;
        taken = 0;
        bytes = 0;
        Chunk chunk = queue.takeChunks();
        while (chunk != null && !full()) {
            chunk = read(chunk, queue);
            if (chunk == null) {
                chunk = queue.takeChunks();
            }
        }
        queue.putBackChunks(chunk);
        return spans;
    }

    /** As much of the chunk as the batch takes. Returns the chunk to go on with, or null at the last one's end. */
    private Chunk read(Chunk chunk, SpanQueue queue) {
        int start = chunk.start;
        long before = bytes;
        int inside = chunk.spans;
        boolean done = false;
        try {
            while (chunk.spans > 0 && !full()) {
                translator.translate(chunk);
                spans++;
                bytes = before + chunk.start - start;
            }
            done = true;
        } finally {
            int end = done ? chunk.start : chunk.end;
            int left = done ? chunk.spans : 0;
            taken += inside - left;
            queue.countRemoved(inside - left, end - start);
            if (!done) {
                queue.putBackChunks(queue.done(chunk));
            }
        }
        return chunk.spans > 0 ? chunk : queue.done(chunk);
    }

    /** Spans taken by the call that threw. */
    int lost() {
        return taken;
    }

    private boolean full() {
        return spans >= options.batchSpans || spans > 0 && bytes + translator.stringBytes() >= options.batchBytes
                || translator.strings().size() >= MAX_STRINGS;
    }

    /** The process of the first span taken; null when there was none. */
    String firstTracer() {
        return translator.firstTracer();
    }

    /** What the batch says about its sender. */
    static Sender sender(String id, long sequence, long sent, long queued, Map<String, Long> drops) {
        Sender sender = new Sender(id, sequence, sent, queued);
        for (Map.Entry<String, Long> drop : drops.entrySet()) {
            sender.addToDrops(new Drop(drop.getKey(), drop.getValue()));
        }
        return sender;
    }

    /** Of the spans taken last. Valid until the next call. */
    EncodedBatch encode(Sender sender, int version) {
        long sequence = sender.getSequence();
        try {
            frame.reset();
            frame.write(new byte[4], 0, 4);
            out.writeMessageBegin(new TMessage(METHOD, TMessageType.CALL, (int) sequence));
            out.writeStructBegin(STRUCT);
            out.writeFieldBegin(ARGUMENT);
            writeBatch(sender, version);
            out.writeFieldEnd();
            out.writeFieldStop();
            out.writeStructEnd();
            out.writeMessageEnd();
            java.nio.ByteBuffer.wrap(frame.bytes).putInt(0, frame.length - 4);
            return new EncodedBatch(sequence, spans, frame.bytes, frame.length);
        } catch (TException e) {
            throw new IllegalStateException("writing into memory failed", e);
        }
    }

    private void writeBatch(Sender sender, int version) throws TException {
        out.writeStructBegin(STRUCT);
        out.writeFieldBegin(VERSION);
        out.writeI32(version);
        out.writeFieldEnd();
        out.writeFieldBegin(STRINGS);
        out.writeListBegin(new TList(TType.STRING, translator.strings().size()));
        for (String text : translator.strings()) {
            out.writeString(text);
        }
        out.writeListEnd();
        out.writeFieldEnd();
        out.writeFieldBegin(SPANS);
        out.writeListBegin(new TList(TType.STRUCT, spans));
        frame.write(translated.bytes, 0, translated.length);
        out.writeListEnd();
        out.writeFieldEnd();
        out.writeFieldBegin(SENDER);
        sender.write(out);
        out.writeFieldEnd();
        out.writeFieldStop();
        out.writeStructEnd();
    }
}
