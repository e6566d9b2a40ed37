package io.plumbline.trace;

/**
 * A span as the current one of a thread. Only that thread uses it, with two exceptions: a detached scope belongs to
 * whoever holds it, and {@link #close} called elsewhere leaves a wish that the thread fulfils when it next looks.
 */
public final class OwnScope extends OpenScope {
    OwnScope below;
    private LiveSpan span = new LiveSpan();
    private int serial;
    /** The thread it is in; null when it is detached or closed. */
    private ThreadState home;
    private boolean endsSpan;
    /** Held by nobody but the one caller that closes it: it may be used again then. */
    private boolean reusable;
    private volatile boolean closeWanted;

    OwnScope() {
    }

    /** A new span, current from now on; the caller says what its parents are. */
    static OwnScope open(ThreadState state, String name, String tracer, long trace) {
        OwnScope scope = state.take();
        scope.span.start(state.threadId, name, tracer, trace, state.newId(), System.nanoTime());
        scope.reusable = true;
        scope.endsSpan = true;
        scope.enter(state);
        return scope;
    }

    /** A span of many threads, current in this one until the scope is closed, which ends the span too. */
    static OwnScope activate(ThreadState state, LiveSpan span) {
        OwnScope scope = new OwnScope();
        scope.span = span;
        scope.endsSpan = true;
        scope.enter(state);
        return scope;
    }

    private void enter(ThreadState state) {
        serial = span.serial();
        home = state;
        state.push(this);
    }

    public LiveSpan span() {
        return span;
    }

    /** From now on the span outlives the scope, and whoever has it ends it. */
    public void keepSpan() {
        span.share();
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
            span.share();
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
            annotate("exception", thrown.getClass().getName());
        }
        close();
    }

    /** Ends the span, unless it is kept, and what is below it in this thread was not closed. Again: nothing. */
    public void close() {
        ThreadState at = home;
        if (at == null) {
            end(); // detached: nothing on a stack
        } else if (at.threadId != Thread.currentThread().getId()) {
            closeWanted = true;
        } else {
            closeInner(at);
            finish();
        }
    }

    /** Scopes opened within this one and left open. Their owners may still come: those objects are not used again. */
    private void closeInner(ThreadState at) {
        while (at.top() != this) {
            OwnScope leaked = at.top();
            leaked.reusable = false;
            leaked.finish();
            OwnEngine.countLeaked();
        }
    }

    /** The close itself, in its thread. */
    void finish() {
        ThreadState at = home;
        home = null;
        closeWanted = false;
        at.remove(this);
        end();
        if (reusable && !span.shared()) {
            at.giveBack(this);
        }
    }

    private void end() {
        if (endsSpan) {
            span.end(serial);
        }
    }
}
