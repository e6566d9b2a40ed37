package io.plumbline.spark;

import io.plumbline.trace.own.JvmFeatures;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.spark.Partition;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;

/**
 * What the rules of Byteman call (spark-operations.btm): a line at the begin and the end of each RDD.compute, in the
 * file that the system property {@code plumb.operations.log} names; without it, {@code plumb-operations.log} in the
 * process's folder. Each line is one write, so that a process that is killed leaves whole lines. Nothing throws. Any
 * thread.
 */
public final class OperationLog {
    private static final String FILE = System.getProperty("plumb.operations.log", "plumb-operations.log");
    private static final String[] FEATURES = JvmFeatures.NAMES.split(",");

    private static OutputStream out;
    private static boolean failed;

    private OperationLog() {
    }

    public static void begun(Object rdd, Object partition, Object context) {
        write("start", rdd, partition, context);
    }

    public static void returned(Object rdd, Object partition, Object context) {
        write("end", rdd, partition, context);
    }

    public static void threw(Object rdd, Object partition, Object context) {
        write("exception", rdd, partition, context);
    }

    private static void write(String flag, Object rdd, Object partition, Object context) {
        try {
            long nano = System.nanoTime();
            write(line(flag, nano, (RDD<?>) rdd, ((Partition) partition).index(), (TaskContext) context));
        } catch (Throwable e) {
            fail(e);
        }
    }

    private static String line(String flag, long nano, RDD<?> rdd, int partition, TaskContext context) {
        StringBuilder line = new StringBuilder(900).append("tag=[RDD]").append(rdd.getClass().getName());
        pair(line, "flag", flag);
        pair(line, "timestamp", System.currentTimeMillis());
        pair(line, "stage", context.stageId());
        pair(line, "thread", Thread.currentThread().getId());
        pair(line, "this", rdd.toString());
        pair(line, "partitionId", partition);
        String[] values = JvmFeatures.always().split(",");
        for (int i = 0; i < values.length; i++) {
            pair(line, FEATURES[i], values[i]);
        }
        pair(line, "nanoTime", nano);
        pair(line, "taskAttemptId", context.taskAttemptId());
        pair(line, "stageAttempt", context.stageAttemptNumber());
        SparkEnv env = SparkEnv.get();
        if (env != null) {
            pair(line, "application", env.conf().get("spark.app.id", ""));
            pair(line, "executor", env.executorId());
        }
        return line.append('\n').toString();
    }

    private static void pair(StringBuilder line, String name, Object value) {
        line.append(';').append(name).append('=').append(String.valueOf(value).replaceAll("[;\\r\\n]", " ").trim());
    }

    private static synchronized void write(String line) throws IOException {
        if (out == null && !failed) {
            out = new FileOutputStream(FILE, true);
        }
        if (out != null) {
            out.write(line.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static synchronized void fail(Throwable e) {
        if (!failed) {
            failed = true;
            System.err.println("plumb: operations are not logged any more to " + FILE + ": " + e);
        }
        out = null;
    }
}
