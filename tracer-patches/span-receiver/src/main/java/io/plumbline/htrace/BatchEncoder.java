package io.plumbline.htrace;

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
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TimelineAnnotation;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;

/** Spans to a frame with a call of {@code submit}. One thread at a time. */
final class BatchEncoder {
    static final String METHOD = "submit";
    /** HTrace counts in milliseconds. */
    private static final long NS_PER_MS = 1_000_000;
    /** Receivers take no more of one span. */
    private static final int MAX_PARENTS = 4096;
    private static final int MAX_ANNOTATIONS = 4096;
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
            wireSpans.add(toWire(span));
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

    private Span toWire(SpanCopy copy) {
        Span span = new Span();
        span.setTrace(copy.id.getHigh());
        span.setSpan(copy.id.getLow());
        span.setBeginNs(toNanos(copy.beginMs));
        span.setDurationNs(toNanos(copy.endMs - copy.beginMs));
        span.setName(intern(copy.description));
        span.setTracer(intern(copy.tracer));
        span.setFlags(plumbConstants.FLAG_MILLISECONDS);
        setParents(span, copy);
        setAnnotations(span, copy.annotations);
        for (TimelineAnnotation note : first(copy.notes, MAX_ANNOTATIONS)) {
            span.addToNotes(new Note(toNanos(note.getTime()), texts.value(SpanCopy.orEmpty(note.getMessage()))));
        }
        return span;
    }

    /** A first parent of the same trace, the usual case, is one number. */
    private void setParents(Span span, SpanCopy copy) {
        List<SpanId> parents = first(copy.parents, MAX_PARENTS);
        if (!parents.isEmpty() && parents.get(0).getHigh() == copy.id.getHigh()) {
            span.setFirstParent(parents.get(0).getLow());
            parents = parents.subList(1, parents.size());
        }
        for (SpanId parent : parents) {
            span.addToParents(new io.plumbline.wire.SpanId(parent.getHigh(), parent.getLow()));
        }
    }

    private void setAnnotations(Span span, String[] pairs) {
        List<String> kept = first(pairs, 2 * MAX_ANNOTATIONS);
        for (int i = 0; i < kept.size(); i += 2) {
            span.addToAnnotations(new Annotation(intern(kept.get(i)), texts.value(kept.get(i + 1))));
        }
    }

    private <T> List<T> first(T[] all, int limit) {
        if (all.length <= limit) {
            return Arrays.asList(all);
        }
        texts.countShortened();
        return Arrays.asList(all).subList(0, limit);
    }

    /** Times far outside of any calendar stay at the edge instead of wrapping round. */
    static long toNanos(long ms) {
        if (ms > Long.MAX_VALUE / NS_PER_MS) {
            return Long.MAX_VALUE;
        }
        return ms < Long.MIN_VALUE / NS_PER_MS ? Long.MIN_VALUE : ms * NS_PER_MS;
    }
}
