package io.plumbline.trace.own;

import io.plumbline.send.base.SpanData;
import io.plumbline.trace.Delivery;

/**
 * A span that is going on. Either of one thread, which uses the same object again for later spans ({@link #serial}
 * tells them apart), or shared: then any thread may use it, and it is never used again.
 */
public final class LiveSpan {
    final SpanData data = new SpanData();
    private long beginNano;
    private boolean open;
    private boolean shared;
    private int serial;
    private long threadId;
    /** Made here, to be activated where it is worked on: until then it waits. */
    private boolean waits;

    /** @param nano of System.nanoTime() */
    @SuppressWarnings("ParameterNumber") // at every begin: an object for them would be garbage
    void start(long threadId, String name, String tracer, long trace, long span, long nano) {
        data.clear(); // was done at the last end, if that one went well
        this.threadId = threadId;
        data.name = name;
        data.tracer = tracer;
        data.trace = trace;
        data.span = span;
        data.beginNs = SpanClock.epoch(nano);
        beginNano = nano;
        open = true;
    }

    /** From now on any thread may use it. By the thread that it belongs to, before another one can know it. */
    void share() {
        shared = true;
    }

    boolean shared() {
        return shared;
    }

    void waitForActivation() {
        waits = true;
    }

    /** TRUE once, for a span that waited: the wait is over now. */
    synchronized boolean waited() {
        boolean was = waits && open;
        waits = false;
        return was;
    }

    long beginNano() {
        return beginNano;
    }

    public long trace() {
        return data.trace;
    }

    public long span() {
        return data.span;
    }

    public String tracer() {
        return data.tracer;
    }

    /** With which all the methods that take one must be called: a span that has ended since is left alone. */
    public int serial() {
        return serial;
    }

    /** May this thread change that span? */
    private boolean mine(int of) {
        return open && serial == of && (shared || threadId == Thread.currentThread().getId());
    }

    public void annotate(int of, String key, String value) {
        if (shared) {
            synchronized (this) {
                annotateHere(of, key, value);
            }
        } else {
            annotateHere(of, key, value);
        }
    }

    private void annotateHere(int of, String key, String value) {
        if (mine(of) && key != null) {
            data.annotate(key, value);
        }
    }

    public void annotate(int of, String key, long value) {
        if (shared) {
            synchronized (this) {
                annotateHere(of, key, value);
            }
        } else {
            annotateHere(of, key, value);
        }
    }

    private void annotateHere(int of, String key, long value) {
        if (mine(of) && key != null) {
            data.annotate(key, value);
        }
    }

    /** A message with the time of now. */
    public void note(int of, String message) {
        if (shared) {
            synchronized (this) {
                noteHere(of, message);
            }
        } else {
            noteHere(of, message);
        }
    }

    private void noteHere(int of, String message) {
        if (mine(of)) {
            data.note(data.beginNs + System.nanoTime() - beginNano, message);
        }
    }

    /** Ends it now and hands it on; nothing when it has ended already. */
    public void end(int of) {
        if (shared) {
            synchronized (this) {
                endAt(of, System.nanoTime());
            }
        } else {
            endAt(of, System.nanoTime());
        }
    }

    /** Ends it as if it had never been. */
    void drop(int of) {
        if (mine(of)) {
            open = false;
            serial++;
            data.clear();
        }
    }

    /** @param nano of System.nanoTime() */
    void endAt(int of, long nano) {
        if (!mine(of)) {
            return;
        }
        data.durationNs = Math.max(0, nano - beginNano);
        open = false;
        serial++;
        Delivery.send(data);
        data.clear();
    }
}
