package io.plumbline.trace.own;

import io.plumbline.trace.Engine;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.report.Trouble;

/**
 * An operation of Spark while one task computes it: an RDD and a partition. Its time is what its own code takes,
 * without that of other operations that it calls. The task's thread counts and ends it; other threads of the task may
 * run it as well.
 */
public final class Operation {
    private static final String KEYS =
            "rddId,partition,stage,exclusiveNs,records,iterators,otherThreadsNs,jvmStart,jvmEnd";

    final int rdd;
    final int partition;
    /** Of its task's operations. */
    final int number;
    private final TaskScope task;
    private final ThreadState home;
    private final String name;
    private final long beginNano;
    private volatile OwnScope scope;
    private String atStart;
    private String atEnd;
    private long endNano;
    private long exclusiveNs;
    private volatile long otherThreadsNs;
    private long records;
    private int iterators;
    /** Of its iterators, those that may have more. */
    private int open;

    Operation(TaskScope task, ThreadState home, String name, int rdd, int partition) {
        this.task = task;
        this.home = home;
        this.name = name;
        this.rdd = rdd;
        this.partition = partition;
        number = task.nextNumber();
        beginNano = System.nanoTime();
        scope = task.tracer() == null ? null : OwnScope.ofOperation(home, name, task.ref(), task.tracer());
        atStart = JvmFeatures.text();
    }

    /** Where calls from within it belong; null once it has ended, and where HTrace keeps the spans. */
    OwnScope scope() {
        return scope;
    }

    void charge(long ns, ThreadState by) {
        if (by == home) {
            exclusiveNs += ns;
        } else {
            addOther(ns);
        }
    }

    private synchronized void addOther(long ns) {
        otherThreadsNs += ns;
    }

    long exclusiveNs() {
        return exclusiveNs;
    }

    /** Its code begins to run here. @return what {@link #exit} takes */
    public int enter() {
        return stateHere().switchTo(task, number);
    }

    /** Its code has returned. */
    public void exit(int before) {
        ThreadState state = stateHere();
        state.switchTo(task, before);
        if (before == 0 && state != home) {
            state.leaveOperations();
        }
    }

    private ThreadState stateHere() {
        return home.here() ? home : ThreadState.get();
    }

    /** The task's thread: there {@link ThreadState#switchTo} with the {@link #number} does what {@link #enter} does. */
    public ThreadState home() {
        return home;
    }

    public int number() {
        return number;
    }

    /** It begins to make an iterator. */
    synchronized void again() {
        iterators++;
        open++;
    }

    /** One more record came out of it. */
    public void record() {
        records++;
    }

    /** One of its iterators has nothing more, or could not be made. */
    public void exhausted() {
        try {
            over();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    private synchronized void over() {
        if (--open == 0) {
            endNano = System.nanoTime();
            atEnd = JvmFeatures.text();
        }
    }

    /** At the end of the task. */
    synchronized void end(Engine engine) {
        if (open > 0 || endNano == 0) {
            endNano = System.nanoTime();
            atEnd = JvmFeatures.text();
        }
        OwnScope own = scope;
        scope = null;
        Object[] values = {rdd, partition, task.stage(), exclusiveNs, records, iterators,
            otherThreadsNs == 0 ? null : (Object) otherThreadsNs, atStart, atEnd};
        Point point = PointBootstrap.point(name, "client", 0, KEYS, "");
        if (own == null) {
            engine.leaf(task.ref(), point, beginNano, endNano, values);
            return;
        }
        for (int i = 0; i < values.length; i++) {
            annotate(own, point.enter[i], values[i]);
        }
        own.endAt(endNano);
    }

    private static void annotate(OwnScope own, String key, Object value) {
        if (value instanceof Number) {
            own.annotate(key, ((Number) value).longValue());
        } else if (value != null) {
            own.annotate(key, (String) value);
        }
    }

    @Override
    public String toString() {
        return name + '[' + rdd + ']';
    }
}
