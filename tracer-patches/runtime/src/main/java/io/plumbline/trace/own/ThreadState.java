package io.plumbline.trace.own;

import io.plumbline.send.base.SpanData;

/** What tracing knows of one thread. Used by that thread only, but for what {@link OwnScope} says. */
public final class ThreadState {
    private static final ThreadLocal<ThreadState> OF_THREAD = ThreadLocal.withInitial(ThreadState::new);
    /** Scopes kept for use again: as deep as calls usually nest. */
    private static final int MAX_SPARE = 32;

    final Thread thread = Thread.currentThread();
    final long threadId = thread.getId();
    /** What {@link OwnEngine#begin} returns for a root that was not sampled. */
    final UnsampledRoot unsampledRoot = new UnsampledRoot(this);
    /** Below a root that was not sampled. */
    boolean unsampled;
    /** The output stream that a root in this thread is opening, until the stream itself takes it. */
    OwnStream opening;
    /** The output stream that roots of Hadoop's belong to; null: none. */
    OwnStream within;
    /** The operation of Spark that runs in this thread, by its number in {@link #inside}; 0: none. No reference: it is
     * written at each passage of a record, and collectors want to be told of references. */
    private int running;
    /** Whose operations run here; null: nobody's. */
    private TaskScope inside;
    /** Whose task of Spark this thread works for; null: none. May have ended. */
    TaskScope task;
    /** The last tick that time was charged at; another than the current one while a burst is going on. */
    private int seen = Ticks.NEVER;
    private int burstTick = Ticks.NEVER;
    private int burst;
    private long chargedAt = System.nanoTime();
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

    /** Is what is going on here below a root that was not sampled? */
    boolean unsampled() {
        return unsampled || task != null && task.unsampledStill();
    }

    /** The innermost scope that is open; null: none. */
    OwnScope current() {
        OwnScope scope = top;
        Operation here = operation();
        if (here != null && (scope == null || scope.within != here)) {
            OwnScope own = here.scope();
            if (own != null) {
                return own;
            }
        }
        if (scope == null) {
            return task == null ? null : task.scope();
        }
        return scope.closeWanted() ? closedElsewhere() : scope;
    }

    /** Is it this thread's? */
    public boolean here() {
        return Thread.currentThread() == thread;
    }

    /**
     * From now on the time of this thread is that of the operation. Called at each call of an iterator and each return
     * from one: hence the clock is only looked at when it has ticked since, and in a burst after that ({@link Ticks}).
     *
     * @param next an operation of the task that this thread computes, by its number; 0: none
     * @return whose it was
     */
    public int switchTo(int next) {
        if (Ticks.now != seen) {
            charge();
        }
        int before = running;
        running = next;
        return before;
    }

    /** The same where another task's may have been running, which is left for good. */
    int switchTo(TaskScope task, int next) {
        if (inside != task) {
            charge();
            inside = task;
            running = 0;
        }
        return switchTo(next);
    }

    /** What runs here is no task's operation any more. */
    void leaveOperations() {
        running = 0;
        inside = null;
    }

    /** The operation that runs here; null: none. */
    Operation operation() {
        return running == 0 || inside == null ? null : inside.operation(running);
    }

    /** All the time since it was last charged goes to what is running. */
    void charge() {
        long now = System.nanoTime();
        Operation here = operation();
        if (here != null) {
            here.charge(now - chargedAt, this);
        }
        chargedAt = now;
        int tick = Ticks.now;
        if (tick != burstTick) {
            burstTick = tick;
            burst = Ticks.BURST;
        }
        burst--;
        seen = burst > 0 ? tick - 1 : tick;
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
        return leafOf(newId(), trace, span);
    }

    /** @param id its own */
    SpanData leafOf(long id, long trace, long span) {
        if (leaf == null) {
            leaf = new SpanData();
        }
        leaf.clear();
        leaf.trace = trace;
        leaf.span = id;
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
        scope.within = operation();
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
