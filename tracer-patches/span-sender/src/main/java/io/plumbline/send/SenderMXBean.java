package io.plumbline.send;

import java.util.Map;

/**
 * {@code io.plumbline:type=SpanReceiver,id=N} in JMX, and so at {@code /jmx} of Hadoop's servers. All counts since the
 * start; received = acknowledged + dropped + queued + in flight.
 */
public interface SenderMXBean {
    /** Spans that the application ended. */
    long getSpansReceived();

    /** Spans that were put into batches which were tried to be sent; counted once, however often that took. */
    long getSpansSent();

    /** Spans that a receiver has taken: durable there, as it is configured. */
    long getSpansAcknowledged();

    long getSpansQueued();

    /** Spans of the batch that waits for its answer. */
    long getSpansInFlight();

    long getSpansDropped();

    /** Reason to spans. */
    Map<String, Long> getDrops();

    long getBatchesSent();

    /** Batches that were sent once more, because nothing is known of what became of them or they were to come later. */
    long getBatchesResent();

    /** Connections and exchanges that failed. */
    long getFailures();

    /** Times that what receivers ask for as to sampling could not be applied. */
    long getSamplingFailures();

    /** Texts, parents or annotations that were cut to the receivers' limits. */
    long getShortened();

    /** Host and port of the receiver connected to; empty when there is none. */
    String getReceiver();

    /** Empty while all goes well. */
    String getLastError();

    /** How receivers call this sender; empty before its first batch. */
    String getSenderId();
}
