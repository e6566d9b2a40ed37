import java.lang.management.ManagementFactory;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * SparkCost FILE WARM-UPS PAIRS: maps and filters over text, with tasks and operations traced and not, in pairs whose order is
 * drawn, in one JVM that has the agent. A line for each pair: processor time of the process in ns, traced and not; then lines.
 */
public final class SparkCost {
    private SparkCost() {
    }

    public static void main(String[] arguments) throws Exception {
        JavaSparkContext context = new JavaSparkContext(new SparkConf());
        JavaRDD<Integer> job = context.textFile(arguments[0], 4).map(String::toUpperCase).filter(line -> line.contains("A"))
                .map(String::length);
        job.count(); // the agent's bean comes with the first call that it traces
        for (int i = 0; i < 2 * Integer.parseInt(arguments[1]); i++) {
            pass(job, i % 2 == 0);
        }
        Random random = new Random();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            boolean first = random.nextBoolean();
            long one = pass(job, first);
            long other = pass(job, !first);
            System.out.println("pair " + (first ? one : other) + " " + (first ? other : one));
        }
        System.out.println("lines " + context.textFile(arguments[0]).count());
        context.stop();
    }

    private static long pass(JavaRDD<Integer> job, boolean traced) throws Exception {
        AgentBean.setPolicy(traced ? "SparkTask=always;never" : "never");
        System.gc();
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long before = system.getProcessCpuTime();
        job.count();
        return system.getProcessCpuTime() - before;
    }
}
