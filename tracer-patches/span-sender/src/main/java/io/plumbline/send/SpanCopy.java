package io.plumbline.send;

/** A span in the queue. */
final class SpanCopy {
    /** As estimated below. Receivers take frames of 32 MiB; nothing near this comes from Hadoop. */
    static final long MAX_BYTES = 4 << 20;
    /** Objects and references of a span without strings, in a JVM with compressed references. */
    private static final long BASE_BYTES = 120;

    final SpanData data = new SpanData();
    final long bytes;

    SpanCopy(SpanData from) {
        data.trace = from.trace;
        data.span = from.span;
        data.beginNs = from.beginNs;
        data.durationNs = from.durationNs;
        data.name = orEmpty(from.name);
        data.tracer = orEmpty(from.tracer);
        data.milliseconds = from.milliseconds;
        long sum = BASE_BYTES + 2L * data.name.length() + 24L * from.parents();
        for (int i = 0; i < from.parents(); i++) {
            data.parent(from.parentTrace(i), from.parentSpan(i));
        }
        for (int i = 0; i < from.annotations(); i++) {
            String text = from.text(i);
            if (text == null) {
                data.annotate(from.key(i), from.number(i));
            } else {
                data.annotate(from.key(i), text);
            }
            sum += 96 + 2L * from.key(i).length() + 2L * (text == null ? 20 : text.length());
        }
        for (int i = 0; i < from.notes(); i++) {
            data.note(from.noteTime(i), from.note(i));
            sum += 72 + 2L * from.note(i).length();
        }
        bytes = sum;
    }

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }
}
