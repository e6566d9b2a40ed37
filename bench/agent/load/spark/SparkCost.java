import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.Tuple2;

/**
 * SparkCost JOB FILE WARM-UPS PAIRS: a job over text, with tasks and operations traced and not, in pairs whose order is
 * drawn, in one JVM that has the agent. A line for each pair, traced and then not: processor time of the tasks' threads
 * as Spark counts it, of the process, in ns.
 */
public final class SparkCost {
    private static final int PARTITIONS = 4;
    private static final int WAIT_SECONDS = 60;

    /** What tasks took, and that they have ended. */
    private static final class Tasks extends SparkListener {
        final AtomicLong cpu = new AtomicLong();
        final Semaphore ended = new Semaphore(0);

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            cpu.addAndGet(end.taskMetrics().executorCpuTime() + end.taskMetrics().executorDeserializeCpuTime());
            ended.release();
        }
    }

    private final Tasks tasks = new Tasks();
    private final JavaSparkContext context;
    private final Runnable job;
    private final int tasksOfJob;

    private SparkCost(JavaSparkContext context, String job, String file) {
        this.context = context;
        context.sc().addSparkListener(tasks);
        JavaRDD<String> lines = context.textFile(file, PARTITIONS);
        switch (job) {
            case "count":
                JavaRDD<Integer> lengths =
                        lines.map(String::toUpperCase).filter(line -> line.contains("A")).map(String::length);
                this.job = lengths::count;
                tasksOfJob = PARTITIONS;
                break;
            case "words":
                this.job = () -> words(lines).reduceByKey(Integer::sum, PARTITIONS).count();
                tasksOfJob = 2 * PARTITIONS;
                break;
            case "sort":
                this.job = () -> lines.mapToPair(line -> new Tuple2<>(line, 1)).repartitionAndSortWithinPartitions(
                        new org.apache.spark.HashPartitioner(PARTITIONS)).count();
                tasksOfJob = 2 * PARTITIONS;
                break;
            default:
                throw new IllegalArgumentException("no job " + job);
        }
    }

    private static JavaPairRDD<String, Integer> words(JavaRDD<String> lines) {
        return lines.flatMap(line -> java.util.Arrays.asList(line.split(" ")).iterator())
                .mapToPair(word -> new Tuple2<>(word, 1));
    }

    public static void main(String[] arguments) throws Exception {
        try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
            new SparkCost(context, arguments[0], arguments[1]).run(Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]));
        }
    }

    private void run(int warmUps, int pairs) throws Exception {
        pass(null); // the agent's bean comes with the first call that it traces
        for (int i = 0; i < 2 * warmUps; i++) {
            pass(i % 2 == 0);
        }
        Random random = new Random();
        for (int i = 0; i < pairs; i++) {
            boolean first = random.nextBoolean();
            long[] one = pass(first);
            long[] other = pass(!first);
            long[] traced = first ? one : other;
            long[] plain = first ? other : one;
            System.out.println("pair " + traced[0] + " " + plain[0] + " " + traced[1] + " " + plain[1]);
        }
    }

    private long[] pass(Boolean traced) throws Exception {
        if (traced != null) {
            AgentBean.setPolicy(traced ? "SparkTask=always;never" : "never");
        }
        System.gc();
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long process = system.getProcessCpuTime();
        tasks.cpu.set(0);
        job.run();
        if (!tasks.ended.tryAcquire(tasksOfJob, WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not " + tasksOfJob + " tasks in a pass");
        }
        return new long[] {tasks.cpu.get(), system.getProcessCpuTime() - process};
    }
}
