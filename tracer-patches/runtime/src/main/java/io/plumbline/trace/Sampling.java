package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.sampling.Choice;
import io.plumbline.trace.sampling.Policy;
import io.plumbline.trace.sampling.PolicyInForce;
import io.plumbline.trace.settings.SettingTable;
import io.plumbline.trace.settings.Settings;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Which roots are traced. A policy is a list, the first match decides: {@code Workload#*=always; hflush=never; 0.01}.
 * Each entry has a function name (with * at the end for any rest), "=" and a choice; the last may be a choice alone,
 * for all others (without it: never). Choices: {@code always}, {@code never}, a fraction from 0 to 1, {@code 5/s}: so
 * many a second of each root function, in the long run, at most as many at once; {@code every 100}: each 100th, from a
 * random one.
 *
 * <p>In force is, of those that are set: what was set through JMX; what the receiver answered (unless {@code
 * sampling.receiver = off}); {@code sampling} of the {@link Settings}; Hadoop's sampler keys of the tracer in question;
 * the default of {@code sampling}. Any thread.
 */
public final class Sampling {
    private static final Sampling CURRENT = new Sampling(Settings.current(), System::nanoTime,
            () -> ThreadLocalRandom.current().nextLong());

    static {
        Settings.current().onHadoopSampling(CURRENT::fromHadoop);
    }

    private final LongSupplier nanos;
    private final LongSupplier random;
    private final boolean receiverMay;
    /** In the order of {@link Source}; null where nothing is said. Under the lock of this. */
    private final PolicyInForce[] said = new PolicyInForce[Source.values().length];
    private volatile PolicyInForce inForce;
    private volatile Source source;
    private volatile boolean never;
    private volatile boolean unset;

    private enum Source { JMX, RECEIVER, SETTINGS, HADOOP, DEFAULT }

    Sampling(Settings settings, LongSupplier nanos, LongSupplier random) {
        this.nanos = nanos;
        this.random = random;
        receiverMay = settings.on("sampling.receiver");
        said[Source.DEFAULT.ordinal()] = policy(SettingTable.find("sampling").otherwise);
        say(Source.SETTINGS, policy(settings.own("sampling")));
    }

    public static Sampling current() {
        return CURRENT;
    }

    /** Shall a root of this function be traced? No allocation. Called only where no span is going on. */
    public boolean sample(Point point) {
        PolicyInForce policy = inForce;
        PolicyInForce.Link link = point.sampling;
        if (link == null || link.of != policy) {
            link = link(point, policy);
        }
        return link != null && link.decider.yes();
    }

    /**
     * As {@link #sample(Point)}, where a fraction decides by these bits: the same answer wherever they are the same.
     */
    public boolean sample(Point point, long bits) {
        PolicyInForce.Link link = link(point);
        return link != null && link.decider.yes(bits);
    }

    /** TRUE while the policy in force wants no root of this function, ever. */
    public boolean never(Point point) {
        PolicyInForce.Link link = link(point);
        return never || link == null || link.decider == Choice.NO;
    }

    private PolicyInForce.Link link(Point point) {
        PolicyInForce policy = inForce;
        PolicyInForce.Link link = point.sampling;
        return link != null && link.of == policy ? link : link(point, policy);
    }

    /** Null when even that fails. */
    private static PolicyInForce.Link link(Point point, PolicyInForce policy) {
        try {
            PolicyInForce.Link link = new PolicyInForce.Link(policy, point.name);
            point.sampling = link;
            return link;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** As {@link #sample(Point)}, for a scope of Hadoop's own with that description. */
    public boolean sample(String description) {
        try {
            return description != null && inForce.decider(description).yes();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return false;
        }
    }

    /** TRUE while no root whatever can be sampled: callers need not keep track of roots that were not. */
    public boolean never() {
        return never;
    }

    /** TRUE while Hadoop's sampler keys are in force: HTrace's own samplers decide then. */
    public boolean unset() {
        return unset;
    }

    /**
     * What the receiver's answer said; null or "" takes it back. A policy that cannot be read is counted, not thrown.
     */
    public void fromReceiver(String policy) {
        try {
            say(Source.RECEIVER, receiverMay ? policy(policy) : null);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    /**
     * Through JMX; null or "" takes it back.
     *
     * @throws IllegalArgumentException saying what cannot be read and what can
     */
    public void fromJmx(String policy) {
        say(Source.JMX, policy(policy));
    }

    /**
     * Of Hadoop's sampler keys (class names as in spans of HTrace, fraction, frequency). Of several tracers, the first
     * that has them decides for the process.
     */
    public void fromHadoop(String policy) {
        try {
            synchronized (this) {
                if (said[Source.HADOOP.ordinal()] == null) {
                    say(Source.HADOOP, policy(policy));
                }
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    /** The policy in force. */
    public String text() {
        return inForce.policy.text;
    }

    /** Where it comes from: "jmx", "receiver", "settings", "hadoop" or "default". */
    public String source() {
        return source.name().toLowerCase(java.util.Locale.ROOT);
    }

    private PolicyInForce policy(String text) {
        return text == null || text.trim().isEmpty() ? null : new PolicyInForce(Policy.parse(text), nanos, random);
    }

    private synchronized void say(Source from, PolicyInForce policy) {
        PolicyInForce before = said[from.ordinal()];
        boolean same = before != null && policy != null && before.policy.text.equals(policy.policy.text);
        said[from.ordinal()] = same ? before : policy; // what was used up of a rate stays used up
        choose();
    }

    private void choose() {
        for (Source candidate : Source.values()) {
            PolicyInForce policy = said[candidate.ordinal()];
            if (policy != null) {
                inForce = policy;
                source = candidate;
                unset = candidate == Source.HADOOP;
                never = policy.never;
                return;
            }
        }
    }
}
