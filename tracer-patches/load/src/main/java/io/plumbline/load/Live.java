package io.plumbline.load;

import java.io.PrintStream;
import java.util.Locale;

/**
 * What is told of a run while it goes on: a line that is written over (terminal), a line every ten seconds (lines), or
 * a document a second (json, as docs/load.md says). One thread at a time.
 */
final class Live {
    private static final int LINE_EVERY_SECONDS = 10;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long MS = 1_000_000;
    /** A reader that reads takes less. */
    private static final long READ_NS = 2 * SECOND_NS;

    private final String mode;
    private final String result;
    private final Documents documents;
    private long filesToldNs;
    private boolean filesTold;

    /** @param documents where documents go */
    Live(Settings settings, PrintStream documents) {
        mode = settings.live;
        result = settings.result;
        this.documents = new Documents(documents);
    }

    /** So many files of the plan are made. Told as often as this is called, or less. */
    void files(int made, int all) {
        String text = "making files: " + made + " of " + all;
        if (mode.equals("terminal")) {
            System.err.print("\r" + text + "\033[K");
            return;
        }
        long everyNs = mode.equals("json") ? SECOND_NS : LINE_EVERY_SECONDS * SECOND_NS;
        long nowNs = System.nanoTime();
        if (!filesTold) {
            filesTold = true;
            filesToldNs = nowNs;
        }
        if (mode.equals("off") || nowNs - filesToldNs < everyNs) {
            return;
        }
        filesToldNs = nowNs;
        if (mode.equals("json")) {
            documents.add(begin("files") + ",\"made\":" + made + ",\"of\":" + all + "}");
        } else {
            System.err.println(text);
        }
    }

    /** A second of the run has passed. */
    void second(int n, Progress.Second second, Plan plan) {
        if (mode.equals("json")) {
            documents.add(document("load", n, second, plan) + "}");
            return;
        }
        boolean line = mode.equals("lines") && n % LINE_EVERY_SECONDS == 0;
        if (!line && !mode.equals("terminal")) {
            return;
        }
        String phase = inWarmUp(n, plan) ? " warm-up" : "";
        String text = String.format(Locale.ROOT, "%d of %d s%s  %d/s  p50 %s  p99 %s  %d in flight  %d errors  lag %s",
                n, plan.endNs() / SECOND_NS, phase, second.done, time(second.medianNs), time(second.p99Ns),
                second.inFlight, second.allFailed, time(second.lagNs));
        if (line) {
            System.err.println(text);
        } else {
            System.err.print("\r" + text + "\033[K");
        }
        System.err.flush();
    }

    /** All has ended; what has since the last second. */
    void end(int n, Progress.Second second, Plan plan, StopReason why) {
        clear();
        if (mode.equals("json")) {
            String name = why.name().toLowerCase(Locale.ROOT);
            documents.add(document("end", n, second, plan) + ",\"end\":\"" + name + "\"}");
        }
    }

    /** Nothing more is told. What was is read, or nobody reads. */
    void close() throws InterruptedException {
        documents.close(READ_NS);
    }

    /** The line on a terminal goes. */
    void clear() {
        if (mode.equals("terminal")) {
            System.err.print("\r\033[K");
            System.err.flush();
        }
    }

    private static boolean inWarmUp(int n, Plan plan) {
        return n * SECOND_NS <= plan.warmUp();
    }

    private String begin(String what) {
        return "{\"live\":\"" + what + "\",\"result\":" + quoted(result) + ",\"time_ns\":"
                + System.currentTimeMillis() * MS;
    }

    private String document(String what, int n, Progress.Second second, Plan plan) {
        long well = second.done - second.failed;
        long allWell = second.allDone - second.allFailed;
        return begin(what) + String.format(Locale.ROOT,
                ",\"second\":%d,\"of\":%d,\"warm_up\":%b,\"due\":%d,\"done\":%d,\"failed\":%d,\"in_flight\":%d,"
                        + "\"bytes\":%d,\"last\":{\"seconds\":%.3f,\"due\":%d,\"done\":%d,\"failed\":%d,\"bytes\":%d,"
                        + "\"p50_ns\":%s,\"p99_ns\":%s,\"lag_ns\":%d}",
                n, plan.endNs() / SECOND_NS, inWarmUp(n, plan), second.allDue, allWell, second.allFailed,
                second.inFlight, second.allBytes, second.lengthNs / 1e9, second.due, well, second.failed, second.bytes,
                known(second.done, second.medianNs), known(second.done, second.p99Ns), second.lagNs);
    }

    /** A quantile of none is not known. */
    private static String known(long n, long ns) {
        return n == 0 ? "null" : Long.toString(ns);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c == '"' || c == '\\' || Character.isSurrogate(c)) {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    static String time(long ns) {
        if (ns >= 10 * SECOND_NS) {
            return String.format(Locale.ROOT, "%d s", ns / SECOND_NS);
        }
        if (ns >= SECOND_NS) {
            return String.format(Locale.ROOT, "%.1f s", ns / 1e9);
        }
        return String.format(Locale.ROOT, ns >= 10_000_000 ? "%.0f ms" : "%.1f ms", ns / 1e6);
    }
}
