package io.plumbline.spark;

import io.plumbline.trace.own.TaskScope;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.spark.SparkHooks;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;

/** Begins and ends the traces of tasks where no class is woven. Nothing throws. */
final class PluginTasks {
    private static final String PREFIX = "fs.client.htrace.";

    private PluginTasks() {
    }

    /** Hadoop's keys are asked of Spark, which gives them to Hadoop: {@code spark.hadoop.fs.client.htrace.plumb...}. */
    static void configure(SparkConf conf) {
        try {
            Settings.current().hadoop(PREFIX, key -> conf.get("spark.hadoop." + key, null));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    static void start() {
        try {
            TaskContext context = TaskContext.get();
            TaskScope going = TaskScope.current();
            if (context == null || going != null && going.here()) {
                return; // the agent has begun it
            }
            TaskScope scope = SparkHooks.begin(context);
            if (scope != null) {
                context.addTaskCompletionListener(new End(scope)).addTaskFailureListener(new Failure(scope));
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** Registered first, it is called last: the others' closing of files belongs to the task. */
    private static final class End implements TaskCompletionListener {
        private final TaskScope scope;

        End(TaskScope scope) {
            this.scope = scope;
        }

        @Override
        public void onTaskCompletion(TaskContext context) {
            scope.end(null);
        }
    }

    private static final class Failure implements TaskFailureListener {
        private final TaskScope scope;

        Failure(TaskScope scope) {
            this.scope = scope;
        }

        @Override
        public void onTaskFailure(TaskContext context, Throwable thrown) {
            scope.annotate("exception", thrown.getClass().getName());
        }
    }
}
