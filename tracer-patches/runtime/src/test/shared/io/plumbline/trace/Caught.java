package io.plumbline.trace;

import io.plumbline.send.base.SpanData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Finished spans as they would go to the sender, for tests. Close it after use. Any thread. */
public final class Caught implements AutoCloseable {
    private final List<Span> spans = new CopyOnWriteArrayList<>();

    public Caught() {
        Delivery.other = data -> spans.add(new Span(data));
    }

    @Override
    public void close() {
        Delivery.other = null;
        Sampling.current().fromJmx(null);
    }

    /** @param policy of sampling; until closed */
    public static Caught sampling(String policy) {
        Caught caught = new Caught();
        Sampling.current().fromJmx(policy);
        return caught;
    }

    /** From here on nothing is kept, until closed. */
    public static Caught nothing(String policy) {
        Caught caught = sampling(policy);
        Delivery.other = span -> {};
        return caught;
    }

    public List<Span> all() {
        return spans;
    }

    public List<String> names() {
        List<String> names = new ArrayList<>();
        spans.forEach(span -> names.add(span.name));
        return names;
    }

    /** The only one of that name. */
    public Span one(String name) {
        List<Span> found = new ArrayList<>(spans);
        found.removeIf(span -> !span.name.equals(name));
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " spans " + name + " of " + names());
        }
        return found.get(0);
    }

    /** What was sent of a span. */
    public static final class Span {
        public final String name;
        public final String tracer;
        public final String id;
        public final long beginNs;
        public final long durationNs;
        public final List<String> parents = new ArrayList<>();
        public final Map<String, Object> annotations = new TreeMap<>();
        public final List<String> notes = new ArrayList<>();
        public final List<Long> noteTimes = new ArrayList<>();

        Span(SpanData data) {
            name = data.name;
            tracer = data.tracer;
            id = id(data.trace, data.span);
            beginNs = data.beginNs;
            durationNs = data.durationNs;
            for (int i = 0; i < data.parents(); i++) {
                parents.add(id(data.parentTrace(i), data.parentSpan(i)));
            }
            for (int i = 0; i < data.annotations(); i++) {
                annotations.put(data.key(i), data.text(i) == null ? (Object) data.number(i) : data.text(i));
            }
            for (int i = 0; i < data.notes(); i++) {
                notes.add(data.note(i));
                noteTimes.add(data.noteTime(i));
            }
        }

        public boolean childOf(Span other) {
            return parents.equals(List.of(other.id));
        }

        public long endNs() {
            return beginNs + durationNs;
        }

        private static String id(long trace, long span) {
            return String.format("%016x%016x", trace, span);
        }
    }
}
