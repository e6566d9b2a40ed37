package io.plumbline.trace;

import io.plumbline.trace.htrace.HTraceEngine;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.Switch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What HooksTest does within a class loader that has the broken engine. */
public final class HooksScenario implements Supplier<List<String>> {
    private static final Point POINT = PointBootstrap.point("f", "client", Point.ROOT, "a,b,c,d", "e");

    private final List<String> seen = new ArrayList<>();

    @Override
    public List<String> get() {
        seen.add("engine " + (Hooks.begin(POINT) == null ? Engines.chosen() : "?"));
        broken(() -> new IllegalStateException("of a test"));
        broken(() -> new OutOfMemoryError("of a test"));
        broken(StackOverflowError::new);
        broken(() -> new LinkageError("of a test"));
        broken(() -> new java.io.IOException("undeclared"));
        off();
        interrupted();
        again();
        return seen;
    }

    /** All hooks, one after the other, as woven code would call them. */
    private void broken(Supplier<Throwable> failure) {
        HTraceEngine.failure = failure;
        Object scope = new HTraceEngine.Scope();
        swallowed("begin", () -> Hooks.begin(POINT));
        swallowed("values", () -> Hooks.values(scope, POINT, 1, 2L, "three", new Mute()));
        swallowed("end", () -> Hooks.end(scope, POINT, 5, null, null, null, new RuntimeException("the application's")));
        swallowed("leave", () -> Hooks.leave("a token"));
        swallowed("capture", () -> Hooks.capture());
        swallowed("below", () -> Hooks.beginBelow(new SpanRef(1, 2), POINT));
        swallowed("leaf", () -> Hooks.leaf(new SpanRef(1, 2), POINT, 0, 1));
        HTraceEngine.failure = null;
    }

    /** What a hook gives, and whether what it kept to itself was counted. */
    private void swallowed(String hook, Supplier<Object> call) {
        long before = troubles();
        Object result = call.get();
        seen.add(hook + " " + result + (troubles() > before ? ", counted" : ", not counted"));
    }

    private void swallowed(String hook, Runnable call) {
        swallowed(hook, () -> {
            call.run();
            return null;
        });
    }

    private static long troubles() {
        return Trouble.count(Trouble.Kind.ENGINE) + Trouble.count(Trouble.Kind.VALUE);
    }

    private void off() {
        HTraceEngine.token = "not sampled";
        Switch.set(false);
        seen.add("off " + Hooks.begin(POINT) + Hooks.capture() + Hooks.beginBelow(new SpanRef(1, 2), POINT));
        Switch.set(true);
        seen.add("on " + Hooks.begin(POINT));
    }

    private void interrupted() {
        Thread.currentThread().interrupt();
        broken(() -> new IllegalStateException("of a test"));
        Settings.strict("sampling=0.5", java.util.Map.of());
        seen.add("interrupted " + Thread.interrupted());
    }

    /** It goes quiet by itself, but not for what the application does to its stack and memory. */
    private void again() {
        HTraceEngine.failure = StackOverflowError::new;
        for (int i = 0; i < 2 * Trouble.MOST_OF_ENGINE; i++) {
            Hooks.begin(POINT);
        }
        seen.add("stacks " + Switch.on());
        HTraceEngine.failure = () -> new IllegalStateException("again and again");
        long before = Trouble.count(Trouble.Kind.ENGINE);
        for (int i = 0; i < 2 * Trouble.MOST_OF_ENGINE; i++) {
            Hooks.begin(POINT);
        }
        long counted = Trouble.count(Trouble.Kind.ENGINE) - before;
        seen.add("failures " + Switch.on() + " " + (counted <= Trouble.MOST_OF_ENGINE));
    }

    /** A value that cannot say what it is. */
    private static final class Mute {
        @Override
        public String toString() {
            throw new StackOverflowError();
        }
    }
}
