package io.plumbline.trace;

/**
 * The span that a process was started for, in W3C's form of {@code traceparent}. It comes in the environment variable
 * TRACEPARENT, as OpenTelemetry's specification of environment variables as carriers has it; an application of Spark
 * gives it to its executors with {@code spark.executorEnv.TRACEPARENT}. spark-submit puts that property into the
 * system properties of the driver, so the driver needs no second one.
 *
 * <p>What comes is text of others: anything but that form is as if there was none.
 */
public final class TraceParent {
    /** "00-", 32 digits, "-", 16 digits, "-", 2 digits; later versions may go on with "-". */
    private static final int LENGTH = 55;
    private static final int TRACE_AT = 3;
    private static final int LOW_AT = 19;
    private static final int SPAN_AT = 36;
    private static final int FLAGS_AT = 53;
    private static final int HEX = 16;
    private static final int MOST_LENGTH = 512;

    /** 32 hexadecimal digits. */
    public final String trace;
    /** 16 hexadecimal digits. */
    public final String span;
    public final boolean sampled;

    private TraceParent(String text) {
        trace = text.substring(TRACE_AT, SPAN_AT - 1);
        span = text.substring(SPAN_AT, FLAGS_AT - 1);
        sampled = (Character.digit(text.charAt(LENGTH - 1), HEX) & 1) != 0;
    }

    /** Null when it is none: not that form, or with an id of zeros. */
    public static TraceParent parse(String text) {
        if (text == null || text.length() < LENGTH || text.length() > MOST_LENGTH || !form(text)) {
            return null;
        }
        TraceParent parsed = new TraceParent(text);
        return zeros(parsed.trace) || zeros(parsed.span) ? null : parsed;
    }

    private static boolean form(String text) {
        for (int i = 0; i < LENGTH; i++) {
            boolean dash = i == TRACE_AT - 1 || i == SPAN_AT - 1 || i == FLAGS_AT - 1;
            char c = text.charAt(i);
            if (dash ? c != '-' : !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f')) {
                return false;
            }
        }
        boolean first = text.startsWith("00");
        return !text.startsWith("ff") && (text.length() == LENGTH || !first && text.charAt(LENGTH) == '-');
    }

    private static boolean zeros(String digits) {
        return digits.chars().allMatch(c -> c == '0');
    }

    /** What spans of ours go below; null: its tracer does not record it, or its lower half is no id of ours. */
    SpanRef ref() {
        long low = Long.parseUnsignedLong(trace.substring(LOW_AT - TRACE_AT), HEX);
        return sampled && low != 0 ? new SpanRef(low, Long.parseUnsignedLong(span, HEX)) : null;
    }

    /** Of the process; null: none. Never throws. */
    public static TraceParent ofProcess() {
        return ParentOfProcess.current();
    }
}
