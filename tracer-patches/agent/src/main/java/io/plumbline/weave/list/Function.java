package io.plumbline.weave.list;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One line of the list. Immutable. */
public final class Function {
    /** What is woven. */
    public enum Kind {
        /** A span from the call to the return. */
        CALL,
        /** Objects take the span that they were made in along; a method of theirs runs below it, in any thread. */
        CARRY,
        /** What a method returns, a Runnable or Callable, does likewise. */
        CARRY_RESULT,
        /** What a method hands to another as its last argument, a Runnable or Callable, does likewise. */
        CARRY_ARGUMENT,
        /** A span from the return of one method to the call of another, in the same thread. */
        BETWEEN,
        /** A span from the call of one method to the call of another of the same object, in whichever threads. */
        ACROSS,
        /** A span round each call of another method, of any class, in the code of one. */
        WITHIN,
        /** Not woven, whatever other lines say. */
        OFF
    }

    /** More do not fit the calls that woven code makes: Hooks.values, Hooks.end. */
    public static final int MAX_VALUES = 4;

    public final Kind kind;
    /** As {@code org.apache.hadoop.hdfs.DFSClient$1}. */
    public final String className;
    public final String role;
    /** The function itself; for CARRY the constructor, for BETWEEN the first. */
    public final Signature first;
    /** For CARRY what runs, for BETWEEN the second; else null. */
    public final Signature second;
    public final String span;
    /** Of {@link io.plumbline.trace.Point}. */
    public final int flags;
    public final boolean unlessTraced;
    public final List<Value> values;
    /** File and line, {@code functions.conf:12}. */
    public final String place;
    /** Of a site's own list? */
    public final boolean site;

    private Function(Builder builder) {
        kind = builder.kind;
        className = builder.className;
        role = builder.role;
        first = builder.first;
        second = builder.second;
        span = builder.span;
        flags = builder.flags;
        unlessTraced = builder.unlessTraced;
        values = Collections.unmodifiableList(new ArrayList<>(builder.values));
        place = builder.place;
        site = builder.site;
    }

    /** What runs as a span: the method whose arguments and result values speak of. */
    Signature spanned() {
        return second == null ? first : second;
    }

    @Override
    public String toString() {
        String simple = className.substring(className.lastIndexOf('.') + 1);
        switch (kind) {
            case CARRY:
            case CARRY_ARGUMENT:
                return simple + " carry " + first + " -> " + second;
            case CARRY_RESULT:
                return simple + " carry " + first + " -> return";
            case BETWEEN:
                return simple + " between " + first + " " + second;
            case ACROSS:
                return simple + " across " + first + " " + second;
            case WITHIN:
                return simple + " within " + first + " " + second;
            case OFF:
                return simple + " off " + first;
            default:
                return simple + " " + first;
        }
    }

    /** What the parser fills. */
    static final class Builder {
        Kind kind = Kind.CALL;
        String className;
        String role;
        Signature first;
        Signature second;
        String span;
        int flags;
        boolean unlessTraced;
        final List<Value> values = new ArrayList<>();
        String place;
        boolean site;

        Function build() {
            return new Function(this);
        }
    }
}
