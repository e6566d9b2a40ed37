package io.plumbline.trace;

/**
 * Which roots are traced. A policy is a list, the first match decides: {@code Workload#*=always; hflush=never; 0.01}.
 * Each entry has a function name (with * at the end for any rest), "=" and a choice; the last may be a choice alone, for
 * all others. Choices: {@code always}, {@code never}, a fraction from 0 to 1, or {@code 5/s}: so many a second of each
 * root function.
 *
 * <p>In force is, of those that are set: what was set through JMX; what the receiver answered (unless
 * {@code sampling.receiver = off}); {@code sampling} of the {@link Settings}; Hadoop's sampler keys of the tracer in
 * question. Any thread.
 */
public final class Sampling {
    private static final Sampling CURRENT = new Sampling();

    private Sampling() {
    }

    public static Sampling current() {
        return CURRENT;
    }

    /** Shall a root of this function be traced? No allocation. Called only where no span is going on. */
    public boolean sample(Point point) {
        throw new UnsupportedOperationException();
    }

    /** As {@link #sample(Point)}, for a scope of Hadoop's own with that description. */
    public boolean sample(String description) {
        throw new UnsupportedOperationException();
    }

    /** TRUE while no root whatever can be sampled: callers need not keep track of roots that were not. */
    public boolean never() {
        throw new UnsupportedOperationException();
    }

    /** TRUE while neither JMX, nor the receiver, nor Settings say anything: HTrace's own samplers decide then. */
    public boolean unset() {
        throw new UnsupportedOperationException();
    }

    /** What the receiver's answer said; null or "" takes it back. A policy that cannot be read is counted, not thrown. */
    public void fromReceiver(String policy) {
        throw new UnsupportedOperationException();
    }

    /** Through JMX. @throws IllegalArgumentException saying what cannot be read and what can */
    public void fromJmx(String policy) {
        throw new UnsupportedOperationException();
    }

    /** Of Hadoop's sampler keys (class names as in spans of HTrace, fraction, frequency), for processes without HTrace. */
    public void fromHadoop(String policy) {
        throw new UnsupportedOperationException();
    }
}
