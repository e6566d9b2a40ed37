package io.plumbline.trace;

import io.plumbline.trace.sampling.PolicyInForce;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * One traced function: what its spans are called and what they record. Woven code holds it as a constant (an
 * invokedynamic call site, {@link PointBootstrap}), so that an engine may compare points by identity. Immutable but for
 * what is cached in it.
 */
public final class Point {
    /** May start a trace of its own when none is going on, if the sampling says so. */
    public static final int ROOT = 1;
    /** Work that no user asked for (heartbeats, block reports): traced only with {@code background = on}. */
    public static final int BACKGROUND = 2;
    /** Not recorded when nothing was traced below it: what it did is then in the span around it. */
    public static final int UNLESS_LEAF = 4;
    /** Opens an output stream, which is a trace of its own when none is going on: {@link StreamHooks}. */
    public static final int STREAM = 8;
    /** A read of an input stream. As a root it may belong to the trace of the one before it: {@link ReadTrace}. */
    public static final int FOLLOWS = 16;

    /** The span's name, without any number in it. */
    public final String name;
    /** The kind of process the function belongs to: "client", "datanode", "namenode"; a site's own word. */
    public final String role;
    public final int flags;
    /** Keys of the values recorded at the call and at the return, in the order in which woven code passes them. */
    public final List<String> enterKeys;
    public final List<String> exitKeys;
    /** The same, for the way that every call goes. */
    public final String[] enter;
    final String[] exit;
    /** What a root's process is called, while that holds. */
    volatile Tracers.Id tracer;
    /** An engine's own, set at most once: a cached decision that depends on the name alone. */
    volatile Object local;
    /** {@link Sampling}'s own: what the policy in force says of this function. */
    volatile PolicyInForce.Link sampling;

    Point(String name, String role, int flags, List<String> enterKeys, List<String> exitKeys) {
        this.name = name;
        this.role = role;
        this.flags = flags;
        this.enterKeys = Collections.unmodifiableList(enterKeys);
        this.exitKeys = Collections.unmodifiableList(exitKeys);
        enter = interned(enterKeys);
        exit = interned(exitKeys);
    }

    /** Equal keys of all functions are one object: they are mostly told apart by that. */
    private static String[] interned(List<String> keys) {
        String[] interned = new String[keys.size()];
        for (int i = 0; i < interned.length; i++) {
            interned[i] = keys.get(i).intern();
        }
        return interned;
    }

    public boolean mayBeRoot() {
        return (flags & ROOT) != 0;
    }

    public boolean background() {
        return (flags & BACKGROUND) != 0;
    }

    public boolean opensStream() {
        return (flags & STREAM) != 0;
    }

    public boolean unlessLeaf() {
        return (flags & UNLESS_LEAF) != 0;
    }

    /** "a,b" to a list; "" to none. */
    static List<String> keys(String joined) {
        return joined.isEmpty() ? Collections.<String>emptyList() : Arrays.asList(joined.split(","));
    }

    @Override
    public String toString() {
        return role + " " + name;
    }
}
