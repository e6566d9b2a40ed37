package io.plumbline.trace.own;

import io.plumbline.trace.Engine;
import io.plumbline.trace.Hooks;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.OperationChoice;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.Switch;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A task of Spark that runs in this process: a trace of its own, whose id follows from the application and the task
 * attempt ({@link TaskTraceId}), and the operations that it computes. Begun and ended by the task's thread; other
 * threads that work for the task {@link #adopt} it. Nothing throws.
 */
public final class TaskScope {
    /** More operation instances of one task are not told apart: their time is that of those that call them. */
    static final int MAX_OPERATIONS = 1000;
    private static final Point TASK = PointBootstrap.point("SparkTask", "client", Point.ROOT, "", "");
    private static final boolean TASKS = on("spark.tasks");
    private static final OperationChoice OPERATIONS = OperationChoice.inForce();
    private static final ConcurrentHashMap<Long, TaskScope> RUNNING = new ConcurrentHashMap<>();

    private final long taskAttemptId;
    private final ThreadState home;
    private final Engine engine;
    /** An OpenScope, or what the engine's leave() takes. */
    private final Object token;
    /** Null when the task is not sampled. */
    private final SpanRef ref;
    /** Of ref, for the engine of our own; else null. */
    private final OwnScope own;
    private final Map<Long, Operation> operations = new LinkedHashMap<>();
    /** The same by their numbers, from 1 on. */
    private volatile Operation[] numbered = new Operation[8];
    private int stage = -1;
    private long refused;
    /** Of the task's thread when it began. */
    private long runDelayBefore = RunDelay.UNKNOWN;
    private volatile boolean ended;

    private TaskScope(long taskAttemptId, ThreadState home, Engine engine, Object token) {
        this.taskAttemptId = taskAttemptId;
        this.home = home;
        this.engine = engine;
        this.token = token;
        boolean sampled = token instanceof OpenScope;
        ref = sampled ? engine.capture() : null;
        own = token instanceof OwnScope ? (OwnScope) token : null;
    }

    private static boolean on(String key) {
        try {
            return Settings.current().on(key);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
            return false;
        }
    }

    /** The task starts in this thread. Null when there is nothing to end. */
    public static TaskScope begin(String app, long taskAttemptId) {
        try {
            return TASKS && Switch.on() ? begin(app, taskAttemptId, Hooks.engine()) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    static TaskScope begin(String app, long taskAttemptId, Engine engine) {
        Object token = engine.beginTask(TASK, TaskTraceId.of(app, taskAttemptId));
        if (token == null) {
            return null;
        }
        ThreadState state = ThreadState.get();
        TaskScope task = new TaskScope(taskAttemptId, state, engine, token);
        state.leaveOperations();
        state.task = task;
        RUNNING.put(taskAttemptId, task);
        if (task.sampled()) {
            Ticks.begin();
            state.charge();
            task.runDelayBefore = RunDelay.nanos();
        }
        return task;
    }

    /** Whose task this thread works for; null: none. */
    public static TaskScope current() {
        TaskScope task = ThreadState.get().task;
        return task == null || task.ended ? null : task;
    }

    /** This thread works for that task from now on: what no other span is going on for belongs to it. */
    public static void adopt(long taskAttemptId) {
        try {
            TaskScope task = RUNNING.get(taskAttemptId);
            ThreadState state = ThreadState.get();
            if (state.task == null || state.task.home != state || state.task.ended) {
                state.task = task;
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** It works for none any more. */
    public static void forsake() {
        ThreadState state = ThreadState.get();
        if (state.task != null && state.task.home != state) {
            state.task = null;
        }
    }

    public boolean sampled() {
        return ref != null;
    }

    /** Is it this thread that runs the task? */
    public boolean here() {
        return home == ThreadState.get();
    }

    /** Known once Spark has read the task. */
    public void stage(int id) {
        stage = id;
        annotate("stage", id);
    }

    public int stage() {
        return stage;
    }

    public void annotate(String key, long value) {
        try {
            if (sampled()) {
                ((OpenScope) token).annotate(key, value);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    public void annotate(String key, String value) {
        try {
            if (sampled() && value != null) {
                ((OpenScope) token).annotate(key, value);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    /** Are there operations to record, and if so, also those that only compute on what others bring? */
    public boolean wants(boolean source) {
        return sampled() && OPERATIONS != OperationChoice.OFF && (source || OPERATIONS == OperationChoice.ALL);
    }

    /** Does it matter whether an operation is a source? */
    public static boolean sourcesOnly() {
        return OPERATIONS == OperationChoice.SOURCES;
    }

    /** The operation of that RDD and partition, which begins to make an iterator. Null: not recorded. */
    public Operation operation(Class<?> rddClass, int rdd, int partition) {
        try {
            return sampled() && !ended ? known(rddClass, rdd, partition) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    private Operation known(Class<?> rddClass, int rdd, int partition) {
        Long key = (long) rdd << 32 | partition & 0xffffffffL;
        Operation operation;
        synchronized (operations) {
            operation = operations.get(key);
            if (operation == null && operations.size() >= MAX_OPERATIONS) {
                refused++;
                return null;
            }
            if (operation == null) {
                operation = new Operation(this, home, name(rddClass), rdd, partition);
                operations.put(key, operation);
                number(operation);
            }
        }
        operation.again();
        return operation;
    }

    private void number(Operation operation) {
        Operation[] all = numbered;
        if (operation.number >= all.length) {
            all = Arrays.copyOf(all, 2 * all.length);
        }
        all[operation.number] = operation;
        numbered = all;
    }

    /** How many there are, and one: the number of the next. */
    int nextNumber() {
        return operations.size() + 1;
    }

    /** Null: none of this task has that number. */
    Operation operation(int number) {
        Operation[] all = numbered;
        return number < all.length ? all[number] : null;
    }

    /** Without its package; what a class inside of another one is called ends with a number there, and stays so. */
    private static String name(Class<?> rddClass) {
        String name = rddClass.getName();
        return "RDD:" + name.substring(name.lastIndexOf('.') + 1);
    }

    ThreadState home() {
        return home;
    }

    SpanRef ref() {
        return ref;
    }

    /** Null where HTrace keeps the spans. */
    String tracer() {
        return ref instanceof OwnRef ? ((OwnRef) ref).tracer : null;
    }

    /** The task's span, while it lasts; else null. */
    OwnScope scope() {
        return ended ? null : own;
    }

    /** Nothing that this task causes is recorded, and it is going on. */
    boolean unsampledStill() {
        return !ended && ref == null;
    }

    /** In the task's thread. Again: nothing. */
    public void end(Throwable thrown) {
        try {
            if (!ended && here()) {
                finish(thrown);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    private void finish(Throwable thrown) {
        try {
            if (sampled()) {
                noteRunDelay();
                endOperations();
            }
        } finally {
            ended = true;
            RUNNING.remove(taskAttemptId, this);
            home.leaveOperations();
            home.task = null;
            if (sampled()) {
                Ticks.end();
            }
            Hooks.finish(thrown, token);
        }
    }

    private void noteRunDelay() {
        long after = runDelayBefore == RunDelay.UNKNOWN ? RunDelay.UNKNOWN : RunDelay.nanos();
        if (after != RunDelay.UNKNOWN) {
            annotate("runDelayNs", after - runDelayBefore);
        }
    }

    private void endOperations() {
        home.charge();
        home.leaveOperations();
        long exclusiveNs = 0;
        synchronized (operations) {
            for (Operation operation : operations.values()) {
                operation.end(engine);
                exclusiveNs += operation.exclusiveNs();
            }
            annotate("operations", operations.size());
        }
        annotate("operationsNs", exclusiveNs);
        if (refused > 0) {
            annotate("operationsRefused", refused);
        }
    }
}
