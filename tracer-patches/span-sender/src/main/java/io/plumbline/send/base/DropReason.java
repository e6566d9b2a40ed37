package io.plumbline.send.base;

/** Why a span was not delivered. The texts go over the wire and into JMX: they are names, not prose. */
public enum DropReason {
    /** The queue held its greatest number of spans. */
    QUEUE_SPANS("queue full"),
    /** The queue held its greatest number of bytes. */
    QUEUE_BYTES("queue bytes full"),
    /** One span was larger than what a sender takes. */
    OVERSIZED("span too large"),
    /** The span could not be copied: the application changed it all the while, or it threw. */
    UNREADABLE("span unreadable"),
    /** The receiver said that it will never take it. */
    REFUSED("refused by receiver"),
    /** The receiver and this sender have no version in common. */
    VERSION("receiver too old"),
    /** Still queued, or sent and not acknowledged, when the time to drain at close was over. */
    NOT_SENT("not sent at close"),
    /** The application ended the span after it had closed the receiver. */
    CLOSED("ended after close");

    private final String text;

    DropReason(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }
}
