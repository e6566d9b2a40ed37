package io.plumbline.trace.own;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.SpanRef;

/**
 * A span as the current one of a thread. Only that thread uses it, with two exceptions: a detached scope belongs to
 * whoever holds it, and {@link #close} called elsewhere leaves a wish that the thread fulfils when it next looks.
 */
public final class OwnScope extends OpenScope {
    OwnScope below;
    /** The operation of Spark that was running when this was entered; null: none. */
    Operation within;
    private LiveSpan span = new LiveSpan();
    private int serial;
    /** The thread it is in; null when it is detached or closed. */
    private ThreadState home;
    private boolean endsSpan;
    /** Held by nobody but the one caller that closes it: it may be used again then. */
    private boolean reusable;
    private volatile boolean closeWanted;
    /** Nobody has asked for its span, so nothing can be below it: it is not sent. */
    private boolean droppable;

    OwnScope() {
    }

    /** A new span that begins now. What its parents are is for the caller to say, before it is {@link #entered}. */
    static OwnScope begun(ThreadState state, String name, String tracer, long trace) {
        return begunAt(state, name, tracer, trace, System.nanoTime());
    }

    /** @param nano of System.nanoTime() */
    static OwnScope begunAt(ThreadState state, String name, String tracer, long trace, long nano) {
        OwnScope scope = state.take();
        scope.span.start(state.threadId, name, tracer, trace, state.newId(), nano);
        scope.reusable = true;
        scope.endsSpan = true;
        scope.droppable = false;
        return scope;
    }

    /** Not recorded if it ends well and nobody asked for {@link #span} until then. Between begun and entered. */
    OwnScope unlessLeaf() {
        droppable = true;
        return this;
    }

    void parent(long trace, long id) {
        span.data.parent(trace, id);
    }

    /**
     * Current from now on. The last step: a stack that ends before it leaves nothing behind that nobody would close.
     */
    OwnScope entered(ThreadState state) {
        serial = span.serial();
        home = state;
        state.push(this);
        return this;
    }

    /** A span of many threads, current in this one until the scope is closed, which ends the span too. */
    static OwnScope activate(ThreadState state, LiveSpan span) {
        OwnScope scope = new OwnScope();
        scope.span = span;
        scope.endsSpan = true;
        return scope.entered(state);
    }

    /** A span that other threads may go on below while this scope is open. Between begun and entered. */
    void shareSpan() {
        span.share();
        reusable = false;
    }

    /** A span of an operation of Spark: on no stack, current while the operation runs ({@link ThreadState#current}). */
    static OwnScope ofOperation(ThreadState state, String name, SpanRef parent, String tracer) {
        OwnScope scope = new OwnScope();
        scope.span.start(state.threadId, name, tracer, parent.trace, state.newId(), System.nanoTime());
        scope.parent(parent.trace, parent.span);
        scope.span.share();
        scope.serial = scope.span.serial();
        return scope;
    }

    /** The end of an operation. @param nano of System.nanoTime() */
    void endAt(long nano) {
        synchronized (span) {
            span.endAt(serial, nano);
        }
    }

    /** For whatever makes it known to others, who may go on below it. */
    public LiveSpan span() {
        for (OwnScope scope = this; scope != null && scope.droppable; scope = scope.below) {
            scope.droppable = false;
        }
        return span;
    }

    /** For a child that may be dropped, and asks for {@link #span} only when it is not. */
    LiveSpan spanUnasked() {
        return span;
    }

    /** From now on the span outlives the scope, and whoever has it ends it. */
    public void keepSpan() {
        span().share();
        reusable = false;
        endsSpan = false;
    }

    /** Takes back {@link #keepSpan}. */
    public void endSpan() {
        endsSpan = true;
    }

    boolean closeWanted() {
        return closeWanted;
    }

    @Override
    public void annotate(String key, String value) {
        span.annotate(serial, key, value);
    }

    @Override
    public void annotate(String key, long value) {
        span.annotate(serial, key, value);
    }

    public void note(String message) {
        span.note(serial, message);
    }

    /** Takes the span from the thread without ending it. */
    public void detach() {
        if (home == ThreadState.get()) {
            span().share();
            reusable = false;
            home.remove(this);
            home = null;
        }
    }

    /** Makes it current in this thread. Nothing when it is not detached. */
    public void reattach() {
        if (home == null && span.serial() == serial) {
            home = ThreadState.get();
            home.push(this);
        }
    }

    @Override
    public void close(Throwable thrown) {
        if (thrown != null) {
            span();
            annotate("exception", thrown.getClass().getName());
        }
        close();
    }

    /**
     * Ends the span, unless it is kept, and what is below it in this thread was not closed. Again: nothing. A stack
     * that ends in here leaves what is still open to the scope around it.
     */
    public void close() {
        ThreadState at = home;
        if (at == null) {
            end(); // detached: nothing on a stack
        } else if (at.threadId != Thread.currentThread().getId()) {
            closeWanted = true;
        } else {
            if (at.top() != this && at.has(this)) {
                closeInner(at);
            }
            finish();
        }
    }

    /** Scopes opened within this one and left open. Their owners may still come: those objects are not used again. */
    private void closeInner(ThreadState at) {
        for (OwnScope leaked = at.top(); leaked != this; leaked = at.top()) {
            leaked.reusable = false;
            leaked.leave(at);
            OwnEngine.countLeaked();
        }
    }

    /** The close itself, in its thread. */
    void finish() {
        ThreadState at = home;
        leave(at);
        if (reusable && !span.shared()) {
            at.giveBack(this);
        }
    }

    /** Taking it out comes first: whatever goes wrong after that, no thread is left with a current span for good. */
    private void leave(ThreadState at) {
        at.remove(this);
        home = null;
        closeWanted = false;
        end();
    }

    private void end() {
        if (droppable) {
            droppable = false;
            span.drop(serial);
        } else if (endsSpan) {
            span.end(serial);
        }
    }
}
