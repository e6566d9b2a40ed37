package io.plumbline.trace.own;

/** A root that was not sampled, and is going on in its thread: one object per thread. */
public final class UnsampledRoot {
    /** Whatever the caller wants to find here again. */
    public Object view;
    private final ThreadState state;

    UnsampledRoot(ThreadState state) {
        this.state = state;
    }

    /** Its end: the next call may be a root again. Any thread, and more than once. */
    public void leave() {
        state.unsampled = false;
        state.opening = null;
    }
}
