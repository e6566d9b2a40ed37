package io.plumbline.trace;

import io.plumbline.send.SpanData;

/** What tracing knows of one thread. Used by that thread only, but for what {@link OwnScope} says. */
final class ThreadState {
    private static final ThreadLocal<ThreadState> OF_THREAD = ThreadLocal.withInitial(ThreadState::new);
    /** Scopes kept for use again: as deep as calls usually nest. */
    private static final int MAX_SPARE = 32;

    final long threadId = Thread.currentThread().getId();
    /** What {@link OwnEngine#begin} returns for a root that was not sampled. */
    final UnsampledRoot unsampledRoot = new UnsampledRoot(this);
    /** Below a root that was not sampled. */
    boolean unsampled;
    /** The innermost scope; null when no span is going on. */
    private OwnScope top;
    private OwnScope spare;
    private int spares;
    private SpanIds ids;
    private SpanData leaf;

    private ThreadState() {
    }

    static ThreadState get() {
        return OF_THREAD.get();
    }

    /** The innermost scope that is open; null: none. */
    OwnScope current() {
        OwnScope scope = top;
        return scope == null || !scope.closeWanted() ? scope : closedElsewhere();
    }

    private OwnScope closedElsewhere() {
        while (top != null && top.closeWanted()) {
            top.finish();
        }
        return top;
    }

    long newId() {
        if (ids == null) {
            ids = new SpanIds();
        }
        return ids.next();
    }

    /** A span without children, to fill and to send. */
    SpanData leafOf(long trace, long span) {
        if (leaf == null) {
            leaf = new SpanData();
        }
        leaf.clear();
        leaf.trace = trace;
        leaf.span = newId();
        leaf.parent(trace, span);
        return leaf;
    }

    /** A scope to fill; not yet on the stack. */
    OwnScope take() {
        OwnScope scope = spare;
        if (scope == null) {
            return new OwnScope();
        }
        spare = scope.below;
        spares--;
        scope.below = null;
        return scope;
    }

    /** Nobody else may hold it any more. */
    void giveBack(OwnScope scope) {
        if (spares < MAX_SPARE) {
            scope.below = spare;
            spare = scope;
            spares++;
        }
    }

    void push(OwnScope scope) {
        scope.below = top;
        top = scope;
    }

    boolean has(OwnScope scope) {
        for (OwnScope s = top; s != null; s = s.below) {
            if (s == scope) {
                return true;
            }
        }
        return false;
    }

    OwnScope top() {
        return top;
    }

    /** Takes it out wherever it is; FALSE when it is not there. */
    boolean remove(OwnScope scope) {
        if (top == scope) {
            top = scope.below;
            scope.below = null;
            return true;
        }
        for (OwnScope s = top; s != null; s = s.below) {
            if (s.below == scope) {
                s.below = scope.below;
                scope.below = null;
                return true;
            }
        }
        return false;
    }
}
