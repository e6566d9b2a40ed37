package io.plumbline.send;

import io.plumbline.wire.plumbConstants;
import java.util.concurrent.atomic.AtomicLong;

/** What a sender takes from the process it runs in; tests put in what they need. */
final class Host {
    private static final AtomicLong STARTS = new AtomicLong();

    Pause pause = Pause.real();
    /** A sender that has nothing to send asks so often what is to be sampled, in case that has changed. */
    long askMs = 10_000;
    int wireVersion = plumbConstants.WIRE_VERSION;
    /** Several senders of one process may start in one millisecond: their number tells them apart. */
    String startedAt = System.currentTimeMillis() + "." + STARTS.incrementAndGet();
}
