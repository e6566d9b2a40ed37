package io.plumbline.send;

import io.plumbline.wire.Annotation;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Drop;
import io.plumbline.wire.Note;
import io.plumbline.wire.Sender;
import io.plumbline.wire.Span;
import io.plumbline.wire.SpanReceiver;
import io.plumbline.wire.plumbConstants;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;

/** Spans to a frame with a call of {@code submit}. One thread at a time. */
final class BatchEncoder {
    static final String METHOD = "submit";
    /** Receivers take no more parents, annotations or notes of one span. */
    private static final int MAX_LIST = 4096;
    private static final int INITIAL_BYTES = 64 << 10;

    private final WireProtocol protocol;
    private final Texts texts;
    private final Map<String, Integer> index = new HashMap<>();
    private List<String> strings = new ArrayList<>();

    BatchEncoder(WireProtocol protocol, Texts texts) {
        this.protocol = protocol;
        this.texts = texts;
    }

    /** What the batch says about its sender. */
    static Sender sender(String id, long sequence, long sent, long queued, Map<String, Long> drops) {
        Sender sender = new Sender(id, sequence, sent, queued);
        for (Map.Entry<String, Long> drop : drops.entrySet()) {
            sender.addToDrops(new Drop(drop.getKey(), drop.getValue()));
        }
        return sender;
    }

    EncodedBatch encode(List<SpanCopy> spans, Sender sender, int version) {
        index.clear();
        strings = new ArrayList<>();
        List<Span> wireSpans = new ArrayList<>(spans.size());
        for (SpanCopy span : spans) {
            wireSpans.add(toWire(span.data));
        }
        Batch batch = new Batch(version, strings, wireSpans);
        batch.setSender(sender);
        return frame(batch, spans.size());
    }

    private EncodedBatch frame(Batch batch, int spans) {
        long sequence = batch.getSender().getSequence();
        try {
            TMemoryBuffer buffer = new TMemoryBuffer(INITIAL_BYTES);
            buffer.write(new byte[4]);
            TProtocol out = protocol.over(buffer);
            out.writeMessageBegin(new TMessage(METHOD, TMessageType.CALL, (int) sequence));
            new SpanReceiver.submit_args(batch).write(out);
            out.writeMessageEnd();
            ByteBuffer.wrap(buffer.getArray()).putInt(buffer.length() - 4);
            return new EncodedBatch(sequence, spans, buffer.getArray(), buffer.length());
        } catch (TException e) {
            throw new IllegalStateException("writing into memory failed", e);
        }
    }

    private int intern(String text) {
        Integer known = index.get(text);
        if (known != null) {
            return known;
        }
        int next = strings.size();
        strings.add(texts.name(text));
        index.put(text, next);
        return next;
    }

    private Span toWire(SpanData data) {
        Span span = new Span();
        span.setTrace(data.trace);
        span.setSpan(data.span);
        span.setBeginNs(data.beginNs);
        span.setDurationNs(data.durationNs);
        span.setName(intern(data.name));
        span.setTracer(intern(data.tracer));
        if (data.milliseconds) {
            span.setFlags(plumbConstants.FLAG_MILLISECONDS);
        }
        setParents(span, data);
        for (int i = 0; i < first(data.annotations()); i++) {
            String text = data.text(i);
            span.addToAnnotations(new Annotation(intern(data.key(i)),
                    text == null ? Long.toString(data.number(i)) : texts.value(text)));
        }
        for (int i = 0; i < first(data.notes()); i++) {
            span.addToNotes(new Note(data.noteTime(i), texts.value(data.note(i))));
        }
        return span;
    }

    /** A first parent of the same trace, the usual case, is one number. */
    private void setParents(Span span, SpanData data) {
        int parents = first(data.parents());
        int i = 0;
        if (parents > 0 && data.parentTrace(0) == data.trace) {
            span.setFirstParent(data.parentSpan(i++));
        }
        for (; i < parents; i++) {
            span.addToParents(new io.plumbline.wire.SpanId(data.parentTrace(i), data.parentSpan(i)));
        }
    }

    private int first(int all) {
        if (all <= MAX_LIST) {
            return all;
        }
        texts.countShortened();
        return MAX_LIST;
    }
}
