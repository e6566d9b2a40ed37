package io.plumbline.send;

import io.plumbline.send.base.Counters;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What receivers ask for as to sampling, for the one who wants to know, when it changes. */
final class SamplingNews {
    private static final Logger LOG = Logger.getLogger("io.plumbline.send");

    private final Counters counters;
    private volatile Consumer<String> listener;
    /** The listener that knows of {@link #told}. Only the sender's thread uses these. */
    private Consumer<String> knows;
    private String told;

    SamplingNews(Counters counters) {
        this.counters = counters;
    }

    /** Any thread. */
    void listener(Consumer<String> listener) {
        this.listener = listener;
    }

    /** Does anybody want to know? Any thread. */
    boolean wanted() {
        return listener != null;
    }

    /** Of each answer; null when it says nothing. The sender's thread. */
    void take(String policy) {
        Consumer<String> current = listener;
        boolean news = current != knows ? policy != null : !Objects.equals(policy, told);
        knows = current;
        told = policy;
        if (news && current != null) {
            tell(current, policy);
        }
    }

    private void tell(Consumer<String> listener, String policy) {
        try {
            listener.accept(policy);
        } catch (Throwable e) {
            counters.samplingFailures.incrementAndGet();
            // Without the stack: its first line would be the message, in which the receiver's text may stand.
            LOG.log(Level.WARNING, "sampling as the receiver asks for could not be applied: {0}",
                    LogText.clean(e.toString()));
        }
    }
}
