package io.plumbline.htrace;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.htrace.core.HTraceConfiguration;

/**
 * The configuration keys. Hadoop puts its prefixes before them: {@code hadoop.htrace.plumb.receiver.addresses}, or
 * {@code datanode.htrace.plumb.receiver.addresses} for one kind of process.
 */
final class Options {
    static final Key QUEUE_SPANS = new Key("plumb.queue.spans", 100_000, 1, 100_000_000);
    static final Key QUEUE_BYTES = new Key("plumb.queue.bytes", 32 << 20, 64 << 10, Integer.MAX_VALUE);
    /** Receivers take 200,000; small batches keep the loss of a kill -9 of this process small. */
    static final Key BATCH_SPANS = new Key("plumb.batch.spans", 2_000, 1, 10_000);
    /** Twice this and the largest span together stay below the receivers' limit of 32 MiB for a frame. */
    static final Key BATCH_BYTES = new Key("plumb.batch.bytes", 1 << 20, 1, 4 << 20);
    static final Key FLUSH_MS = new Key("plumb.flush.interval.ms", 500, 1, 3_600_000);
    static final Key CONNECT_MS = new Key("plumb.connect.timeout.ms", 3_000, 1, 3_600_000);
    static final Key IO_MS = new Key("plumb.io.timeout.ms", 20_000, 1, 3_600_000);
    static final Key RETRY_MIN_MS = new Key("plumb.retry.min.ms", 100, 1, 3_600_000);
    static final Key RETRY_MAX_MS = new Key("plumb.retry.max.ms", 10_000, 1, 3_600_000);
    static final Key DRAIN_MS = new Key("plumb.shutdown.timeout.ms", 3_000, 0, 3_600_000);
    static final List<Key> NUMBERS = Collections.unmodifiableList(Arrays.asList(QUEUE_SPANS, QUEUE_BYTES, BATCH_SPANS,
            BATCH_BYTES, FLUSH_MS, CONNECT_MS, IO_MS, RETRY_MIN_MS, RETRY_MAX_MS, DRAIN_MS));
    static final String ADDRESSES_KEY = "plumb.receiver.addresses";
    static final String ADDRESSES_DEFAULT = "127.0.0.1:" + Address.DEFAULT_PORT;
    static final String PROTOCOL_KEY = "plumb.protocol";

    final List<Address> addresses;
    final WireProtocol protocol;
    final int queueSpans;
    final int queueBytes;
    final int batchSpans;
    final int batchBytes;
    final int flushMs;
    final int connectMs;
    final int ioMs;
    final int retryMinMs;
    final int retryMaxMs;
    final int drainMs;

    /** @throws IllegalArgumentException naming key, value and what is allowed */
    Options(HTraceConfiguration conf) {
        try {
            addresses = Address.parseList(text(conf, ADDRESSES_KEY, ADDRESSES_DEFAULT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(ADDRESSES_KEY + ": " + e.getMessage(), e);
        }
        protocol = WireProtocol.parse(PROTOCOL_KEY, text(conf, PROTOCOL_KEY, WireProtocol.COMPACT.text()));
        queueSpans = QUEUE_SPANS.read(conf);
        queueBytes = QUEUE_BYTES.read(conf);
        batchSpans = BATCH_SPANS.read(conf);
        batchBytes = BATCH_BYTES.read(conf);
        flushMs = FLUSH_MS.read(conf);
        connectMs = CONNECT_MS.read(conf);
        ioMs = IO_MS.read(conf);
        retryMinMs = RETRY_MIN_MS.read(conf);
        retryMaxMs = RETRY_MAX_MS.read(conf);
        drainMs = DRAIN_MS.read(conf);
        if (retryMaxMs < retryMinMs) {
            throw new IllegalArgumentException(
                    RETRY_MAX_MS.name + " = " + retryMaxMs + " is less than " + RETRY_MIN_MS.name + " = " + retryMinMs);
        }
    }

    private static String text(HTraceConfiguration conf, String key, String otherwise) {
        String value = conf.get(key);
        return value == null || value.trim().isEmpty() ? otherwise : value.trim();
    }

    /** A whole number with its bounds. */
    static final class Key {
        final String name;
        final int otherwise;
        final int least;
        final int greatest;

        Key(String name, int otherwise, int least, int greatest) {
            this.name = name;
            this.otherwise = otherwise;
            this.least = least;
            this.greatest = greatest;
        }

        int read(HTraceConfiguration conf) {
            String value = text(conf, name, Integer.toString(otherwise));
            try {
                int number = Integer.parseInt(value);
                if (number >= least && number <= greatest) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // falls through to the message below
            }
            throw new IllegalArgumentException(
                    name + " = '" + value + "': a whole number from " + least + " to " + greatest + " is needed");
        }
    }
}
