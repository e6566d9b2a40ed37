package io.plumbline.trace.spark;

import io.plumbline.trace.Hooks;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.TraceParent;
import io.plumbline.trace.own.Operation;
import io.plumbline.trace.own.TaskScope;
import io.plumbline.trace.report.Trouble;
import org.apache.spark.Partition;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.Executor;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.Task;
import scala.Function1;
import scala.collection.Iterator;

/** What woven classes of Spark call. Nothing here throws. */
public final class SparkHooks {
    private static final Point PARALLEL = PointBootstrap.point("ThreadUtils#parmap", "client", 0, "", "");

    /** A local property: {@code sc.setLocalProperty("traceparent", ...)}. */
    private static final String TRACE_PARENT = "traceparent";

    /** TaskRunner.run() has begun the task's span, and will end it. */
    private static final Object BEGUN_BEFORE = new Object();

    private SparkHooks() {
    }

    /** Before Executor.TaskRunner.run(): whatever is done for the task, reading it and its jars included. */
    public static Object runner(Object runner) {
        try {
            long id = ((Executor.TaskRunner) runner).taskId();
            return begin(id);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** Null without an application: then the trace would have no id that anybody could compute. */
    private static TaskScope begin(long id) {
        SparkEnv env = SparkEnv.get();
        String app = env == null ? "" : env.conf().get("spark.app.id", "");
        TaskScope scope = app.isEmpty() ? null : TaskScope.begin(app, id);
        if (scope != null && scope.sampled()) {
            scope.annotate("application", app);
            scope.annotate("taskAttemptId", id);
            scope.annotate("executor", env.executorId());
            scope.annotate("host", host(env));
        }
        return scope;
    }

    private static String host(SparkEnv env) {
        try {
            return env.blockManager().blockManagerId().host();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
            return null;
        }
    }

    /**
     * Before Task.run(): what the task is, is known now. What it returns is for {@link #succeeded} or {@link #failed}.
     */
    public static Object task(Object task, long id, int attempt) {
        try {
            TaskScope going = TaskScope.current();
            boolean begun = going != null && going.here();
            TaskScope scope = begun ? going : begin(id);
            if (scope == null || !scope.sampled()) {
                return begun ? null : scope;
            }
            Task<?> known = (Task<?>) task;
            describe(scope, known.stageId(), known.stageAttemptId(), known.partitionId(), attempt);
            link(scope, known.localProperties().getProperty(TRACE_PARENT));
            return begun ? BEGUN_BEFORE : scope;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** Where no class of Spark is woven: a task that begins in this thread. Null: nothing to end. */
    public static TaskScope begin(TaskContext context) {
        TaskScope scope = begin(context.taskAttemptId());
        if (scope != null && scope.sampled()) {
            describe(scope, context.stageId(), context.stageAttemptNumber(), context.partitionId(),
                    context.attemptNumber());
            link(scope, context.getLocalProperty(TRACE_PARENT));
        }
        return scope;
    }

    private static void describe(TaskScope scope, int stage, int stageAttempt, int partition, int attempt) {
        scope.stage(stage);
        scope.annotate("stageAttempt", stageAttempt);
        scope.annotate("partition", partition);
        scope.annotate("attempt", attempt);
    }

    /**
     * A task keeps its own trace, by which it is found, and says whom it works for: the job, whose local property Spark
     * gives to its tasks, or else the process.
     */
    private static void link(TaskScope scope, String ofJob) {
        TraceParent job = TraceParent.parse(ofJob);
        TraceParent parent = job != null ? job : TraceParent.ofProcess();
        if (parent != null) {
            scope.annotate("link", parent.trace + ' ' + parent.span);
        }
    }

    /** After Task.run(). */
    public static void succeeded(Object begun) {
        if (begun != BEGUN_BEFORE) {
            end(begun, null);
        }
    }

    /** After Task.run() threw. TaskRunner.run() does not throw then. */
    public static void failed(Object begun, Throwable thrown) {
        try {
            if (begun != BEGUN_BEFORE) {
                end(begun, thrown);
            } else {
                TaskScope.current().annotate("exception", thrown.getClass().getName());
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** @param scope of {@link #runner} or {@link #task}. @param thrown null: nothing was */
    public static void end(Object scope, Throwable thrown) {
        ((TaskScope) scope).end(thrown);
    }

    /** Before RDD.iterator(). What it returns is for {@link #opened} or {@link #notOpened}; null: neither. */
    public static Object opening(Object rdd, Object partition) {
        try {
            TaskScope scope = TaskScope.current();
            RDD<?> known = (RDD<?>) rdd;
            Operation operation = scope == null || !scope.wants(!TaskScope.sourcesOnly() || Sources.has(known)) ? null
                    : scope.operation(rdd.getClass(), known.id(), ((Partition) partition).index());
            return operation == null ? null : new Opening(operation, operation.enter());
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** It has made this; what takes its place is returned. */
    public static Object opened(Object opening, Object iterator) {
        try {
            Operation operation = ((Opening) opening).end();
            return iterator == null ? null : TimedIterators.of((Iterator<?>) iterator, operation);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return iterator;
        }
    }

    /** It threw. */
    public static void notOpened(Object opening) {
        try {
            ((Opening) opening).end().exhausted();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** An iterator that is being made. */
    private static final class Opening {
        private final Operation operation;
        private final int before;

        Opening(Operation operation, int before) {
            this.operation = operation;
            this.before = before;
        }

        Operation end() {
            operation.exit(before);
            return operation;
        }
    }

    /** In TaskContext.setTaskContext(): this thread works for that task. Spark's helper threads say so. */
    public static void context(Object context) {
        try {
            if (context instanceof TaskContext) {
                TaskScope.adopt(((TaskContext) context).taskAttemptId());
            } else {
                TaskScope.forsake();
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** In ThreadUtils.parmap(): a function that other threads will run. */
    public static Object carry(Object function) {
        SpanRef parent = Hooks.capture();
        return parent == null || !(function instanceof Function1) ? function
                : new CarriedFunction((Function1<?, ?>) function, parent, PARALLEL);
    }
}
