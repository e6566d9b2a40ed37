package io.plumbline.load;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.HdrHistogram.Recorder;

/**
 * The latencies of each kind, second by second, as a log of HdrHistogram (format 1.3, histograms V2), which its own
 * tools read. The tag of a line is the kind; values are nanoseconds since the due time, to three digits. What the
 * report leaves out, the warm-up and what failed, is left out here.
 */
final class HdrLog implements Closeable {
    private static final int DIGITS = 3;

    private final PrintStream out;
    private final HistogramLogWriter writer;
    private final Map<Kind, Recorder> recorders = new EnumMap<>(Kind.class);
    private final Map<Kind, Histogram> spare = new EnumMap<>(Kind.class);

    HdrLog(String path) throws IOException {
        out = new PrintStream(new BufferedOutputStream(Files.newOutputStream(Paths.get(path))), false, "UTF-8");
        writer = new HistogramLogWriter(out);
        for (Kind kind : Kind.values()) {
            recorders.put(kind, new Recorder(DIGITS));
        }
    }

    /** The load begins now. */
    void begin() {
        long now = System.currentTimeMillis();
        for (Recorder recorder : recorders.values()) {
            recorder.reset();
        }
        writer.outputComment("[plumb load: nanoseconds since operations were due, by kind (tag)]");
        writer.outputLogFormatVersion();
        writer.outputBaseTime(now);
        writer.outputStartTime(now);
        writer.setBaseTime(now);
        writer.outputLegend();
    }

    /** Any thread. */
    void record(Kind kind, long latencyNs) {
        recorders.get(kind).recordValue(Math.max(0, latencyNs));
    }

    /** What was recorded since the last time. One thread at a time. */
    void write() throws IOException {
        for (Map.Entry<Kind, Recorder> entry : recorders.entrySet()) {
            Kind kind = entry.getKey();
            Histogram histogram = entry.getValue().getIntervalHistogram(spare.get(kind));
            spare.put(kind, histogram);
            if (histogram.getTotalCount() > 0) {
                histogram.setTag(kind.name().toLowerCase(Locale.ROOT));
                writer.outputIntervalHistogram(histogram);
            }
        }
        if (out.checkError()) {
            throw new IOException("the log of histograms could not be written");
        }
    }

    @Override
    public void close() throws IOException {
        write();
        out.close();
    }
}
