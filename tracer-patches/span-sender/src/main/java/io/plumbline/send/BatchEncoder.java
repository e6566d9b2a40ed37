package io.plumbline.send;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.pack.Chunk;
import io.plumbline.send.pack.Packs;
import io.plumbline.send.pack.SpanQueue;
import io.plumbline.send.pack.SpanTranslator;
import io.plumbline.send.wire.FieldWriter;
import io.plumbline.send.wire.FrameBuffer;
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
 * Chunks of the queue to a frame with a call of {@code submit}. They are copied when they are taken; the frame around
 * them is made anew, and the spans are translated, when an older version is to be spoken. One thread.
 */
final class BatchEncoder {
    static final String METHOD = "submit";
    private static final TStruct STRUCT = new TStruct("");
    private static final TField ARGUMENT = new TField("batch", TType.STRUCT, (short) 1);
    private static final TField VERSION = new TField("version", TType.I32, (short) 1);
    private static final TField NEEDS = new TField("needs", TType.I32, (short) 2);
    private static final TField STRINGS = new TField("strings", TType.LIST, (short) 3);
    private static final TField SPANS = new TField("spans", TType.LIST, (short) 4);
    private static final TField SENDER = new TField("sender", TType.STRUCT, (short) 5);
    private static final TField PACKS = new TField("packs", TType.LIST, (short) 6);
    /** From this version on, receivers understand packs as they are written here. */
    private static final int VERSION_WITH_PACKS = 3;
    /** Receivers take 200,000; the last chunk adds at most some 54,000. */
    private static final int MAX_STRINGS = 140_000;

    private final SenderOptions options;
    private final Packs packs = new Packs();
    private final FrameBuffer translated = new FrameBuffer();
    private final FrameBuffer frame = new FrameBuffer();
    private final TProtocol out;
    private final FieldWriter elements;
    private final SpanTranslator translator;
    /** Of the batch; null: it has no span. */
    private String firstTracer;
    /** In the batch. */
    private int spans;
    /** What they are measured by. */
    private long weight;

    BatchEncoder(SenderOptions options) {
        this.options = options;
        this.out = options.protocol.over(frame);
        this.elements = options.protocol.writer(frame);
        this.translator = new SpanTranslator(options.protocol.writer(translated));
    }

    /**
     * Takes up to a batch's worth of what is ready in the queue: whole chunks. Returns how many spans these are. When
     * it throws, the spans taken are lost ({@link #lost}).
     */
    int take(SpanQueue queue) {
        packs.reset();
        firstTracer = null;
        spans = 0;
        weight = 0;
        Chunk chunk = queue.takeChunks();
        while (chunk != null && hasRoom(chunk)) {
            chunk = take(chunk, queue);
            if (chunk == null) {
                chunk = queue.takeChunks();
            }
        }
        queue.putBackChunks(chunk);
        return spans;
    }

    private boolean hasRoom(Chunk chunk) {
        return spans == 0 || spans + chunk.spans <= options.batchSpans && weight + chunk.weight <= options.batchBytes
                && packs.strings() + chunk.writtenOut <= MAX_STRINGS;
    }

    /** Returns the chunk to go on with, or null after the last one. */
    private Chunk take(Chunk chunk, SpanQueue queue) {
        Chunk next = chunk.next;
        boolean done = false;
        queue.countRemoved(chunk.spans, chunk.weight);
        spans += chunk.spans;
        weight += chunk.weight;
        try {
            if (chunk.spans > 0) {
                firstTracer = firstTracer == null ? chunk.firstTracer : firstTracer;
                packs.add(chunk);
            }
            done = true;
        } finally {
            if (!done) {
                queue.putBackChunks(next);
            }
        }
        return queue.done(chunk);
    }

    /** Spans taken by the call that threw. */
    int lost() {
        return spans;
    }

    /** The process of the first span taken; null when there was none. */
    String firstTracer() {
        return firstTracer;
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
            out.writeStructBegin(STRUCT);
            i32(VERSION, version);
            if (version >= VERSION_WITH_PACKS && spans > 0) {
                writePacks(sender);
            } else {
                writeSpans(sender);
            }
            out.writeFieldStop();
            out.writeStructEnd();
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

    private void i32(TField field, int value) throws TException {
        out.writeFieldBegin(field);
        out.writeI32(value);
        out.writeFieldEnd();
    }

    private void writePacks(Sender sender) throws TException {
        i32(NEEDS, VERSION_WITH_PACKS);
        writeStrings(packs.table());
        writeList(SPANS, TType.STRUCT, 0);
        writeSender(sender);
        writeList(PACKS, TType.STRING, packs.size());
        for (int i = 0; i < packs.size(); i++) {
            elements.element(packs.bytes(), packs.begin(i), packs.end(i) - packs.begin(i));
        }
    }

    /** As all versions understand them. */
    private void writeSpans(Sender sender) throws TException {
        translated.reset();
        translator.reset(packs.table());
        for (int i = 0; i < packs.size(); i++) {
            translator.translate(packs.bytes(), packs.begin(i), packs.end(i));
        }
        writeStrings(translator.strings());
        writeList(SPANS, TType.STRUCT, spans);
        frame.write(translated.bytes, 0, translated.length);
        writeSender(sender);
    }

    private void writeStrings(java.util.List<String> strings) throws TException {
        writeList(STRINGS, TType.STRING, strings.size());
        for (String text : strings) {
            out.writeString(text);
        }
    }

    /** Only its head; the end of a field or list is nothing in either protocol. */
    private void writeList(TField field, byte type, int n) throws TException {
        out.writeFieldBegin(field);
        out.writeListBegin(new TList(type, n));
        out.writeListEnd();
        out.writeFieldEnd();
    }

    private void writeSender(Sender sender) throws TException {
        out.writeFieldBegin(SENDER);
        sender.write(out);
        out.writeFieldEnd();
    }
}
