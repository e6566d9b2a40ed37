package io.plumbline.weave;

import io.plumbline.trace.Point;
import io.plumbline.trace.SpanRef;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands where woven test classes find io.plumbline.trace.Hooks ({@link WovenClasses} writes its name there), and keeps
 * what they said in order. One thread, except for carried spans.
 */
public final class RecordingHooks {
    /** What begin answers. */
    enum Mode { SAMPLED, NOT_SAMPLED, ROOT_NOT_SAMPLED }

    private static final class Scope {
        final String name;

        Scope(String name) {
            this.name = name;
        }
    }

    static final List<String> EVENTS = new ArrayList<>();
    static Mode mode = Mode.SAMPLED;
    static SpanRef current;

    private RecordingHooks() {
    }

    static synchronized void reset(Mode next) {
        EVENTS.clear();
        mode = next;
        current = null;
    }

    static synchronized List<String> take() {
        List<String> events = new ArrayList<>(EVENTS);
        EVENTS.clear();
        return events;
    }

    private static synchronized void say(String event) {
        EVENTS.add(event);
    }

    public static Object begin(Point point) {
        if (mode == Mode.NOT_SAMPLED) {
            return null;
        }
        say("begin " + point.name + (point.mayBeRoot() ? " root" : "") + (point.background() ? " background" : ""));
        return mode == Mode.SAMPLED ? new Scope(point.name) : "token";
    }

    public static Object beginRead(Object stream, Point point) {
        say("of " + stream.getClass().getName());
        return begin(point);
    }

    public static boolean open(Object token) {
        return token instanceof Scope;
    }

    @SuppressWarnings("ParameterNumber") // as Hooks
    public static void values(Object token, Point point, Object a, Object b, Object c, Object d) {
        say(pairs(point.enterKeys, a, b, c, d));
    }

    @SuppressWarnings("ParameterNumber") // as Hooks
    public static void end(Object token, Point point, Object a, Object b, Object c, Object d, Throwable thrown) {
        say(pairs(point.exitKeys, a, b, c, d));
        finish(thrown, token);
    }

    public static Object difference(Object a, Object b, int plus) {
        return io.plumbline.trace.Hooks.difference(a, b, plus);
    }

    public static void finish(Throwable thrown, Object token) {
        if (token instanceof Scope) {
            say("end " + ((Scope) token).name + (thrown == null ? "" : " " + thrown.getMessage()));
        } else if (token != null) {
            say("leave");
        }
    }

    public static Object unreadable(Throwable e) {
        say("unreadable " + e.getClass().getSimpleName());
        return null;
    }

    public static SpanRef capture() {
        return current;
    }

    public static Object beginBelow(SpanRef parent, Point point) {
        if (parent == null) {
            return null;
        }
        say("below " + parent.span + " " + point.name);
        return new Scope(point.name);
    }

    public static void hold(Object owner, Point point) {
        say("hold " + point.name + (owner == null ? "" : " owned") + " " + point.enterKeys);
    }

    public static Object release(Object owner, Point point) {
        return mode == Mode.NOT_SAMPLED ? null : point;
    }

    public static void released(Object held, Object a, Object b, Object c, Object d) {
        Point point = (Point) held;
        say("released " + point.name + " " + pairs(point.enterKeys, a, b, c, d));
    }

    public static Object since() {
        return current;
    }

    public static void until(Object since, Point point) {
        say("until " + (since == null ? "nothing" : ((SpanRef) since).span) + " " + point.name);
    }

    public static Object carry(Object work, Point point) {
        say("carry " + point.name);
        return work;
    }

    private static String pairs(List<String> keys, Object... values) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < keys.size(); i++) {
            Object value = values[i];
            text.append(i == 0 ? "" : " ").append(keys.get(i)).append('=').append(value);
            text.append(value == null || value instanceof String ? "" : ":" + value.getClass().getSimpleName());
        }
        return text.toString();
    }
}
