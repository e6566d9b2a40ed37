package io.plumbline.trace.sampling;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** A policy at work: what each root function still may. Any thread. */
public final class PolicyInForce {
    /** Names past this many (a name with a number in it, then) share what their rule allows. */
    private static final int MAX_NAMES = 10_000;

    public final Policy policy;
    public final boolean never;
    private final LongSupplier nanos;
    private final LongSupplier random;
    private final ConcurrentHashMap<String, Choice.Decider> byName = new ConcurrentHashMap<>();
    private final Choice.Decider[] shared;

    public PolicyInForce(Policy policy, LongSupplier nanos, LongSupplier random) {
        this.policy = policy;
        this.nanos = nanos;
        this.random = random;
        never = policy.never();
        shared = new Choice.Decider[policy.rules()];
        for (int i = 0; i < shared.length; i++) {
            shared[i] = policy.choice(i).decider(nanos, random);
        }
    }

    /** The same for the same name, so that a rate holds for a function however it is asked for. */
    public Choice.Decider decider(String function) {
        Choice.Decider known = byName.get(function);
        return known != null ? known : newDecider(function);
    }

    private Choice.Decider newDecider(String function) {
        int rule = policy.ruleOf(function);
        if (rule < 0) {
            return Choice.NO;
        }
        if (byName.size() >= MAX_NAMES) {
            return shared[rule];
        }
        Choice.Decider made = policy.choice(rule).decider(nanos, random);
        Choice.Decider earlier = byName.putIfAbsent(function, made);
        return earlier != null ? earlier : made;
    }

    /** A point's cached decider. */
    public static final class Link {
        public final PolicyInForce of;
        public final Choice.Decider decider;

        public Link(PolicyInForce of, String function) {
            this.of = of;
            decider = of.decider(function);
        }
    }
}
