package io.plumbline.trace;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ConcurrentHashMap;

/** Links the invokedynamic instructions of woven classes: each yields its {@link Point}, a constant to the compiler. */
public final class PointBootstrap {
    private static final ConcurrentHashMap<String, Point> POINTS = new ConcurrentHashMap<>();

    private PointBootstrap() {
    }

    /**
     * The bootstrap method.
     *
     * @param type {@code ()Point}
     * @param enterKeys keys recorded at the call, joined with commas
     */
    @SuppressWarnings("ParameterNumber") // the JVM calls it, with what the class file says
    public static CallSite link(MethodHandles.Lookup caller, String unused, MethodType type, String name, String role,
            int flags, String enterKeys, String exitKeys) {
        Point point = point(name, role, flags, enterKeys, exitKeys);
        return new ConstantCallSite(MethodHandles.constant(Point.class, point));
    }

    /** The same object for the same arguments, in the whole process. */
    public static Point point(String name, String role, int flags, String enterKeys, String exitKeys) {
        String identity = name + '\n' + role + '\n' + flags + '\n' + enterKeys + '\n' + exitKeys;
        return POINTS.computeIfAbsent(identity,
                ignored -> new Point(name, role, flags, Point.keys(enterKeys), Point.keys(exitKeys)));
    }
}
