import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Work of Spark in JVMs alone: SparkJob WORK INPUT FOLDER. Prints what came out of it, for comparison with and without
 * tracing.
 */
public final class SparkJob {
    private SparkJob() {
    }

    public static void main(String[] arguments) {
        SparkSession spark = SparkSession.builder().config(new SparkConf()).getOrCreate();
        JavaSparkContext context = new JavaSparkContext(spark.sparkContext());
        String input = arguments[1];
        String folder = arguments[2];
        for (String work : arguments[0].split(",")) {
            context.setJobGroup(work, work, false);
            System.out.println(work + ": " + run(work, spark, context, input, folder));
        }
        spark.stop();
    }

    private static Object run(String work, SparkSession spark, JavaSparkContext context, String input, String folder) {
        switch (work) {
            case "text":
                return context.textFile(input).map(String::toUpperCase).filter(line -> line.contains("A"))
                        .map(String::length)
                        .count();
            case "long":
                return context.textFile(input).map(String::toUpperCase).filter(line -> line.contains("A"))
                        .map(SparkJob::weigh)
                        .filter(weight -> weight % 2 == 0).count() > 0;
            case "cache":
                return cached(context, input);
            case "words":
                return words(context, input, folder);
            case "parquet":
                return parquet(spark, input, folder);
            case "footers":
                return spark.read().option("mergeSchema", "true").parquet(folder + "/table").schema().size();
            case "product":
                JavaRDD<Integer> few = context.parallelize(Arrays.asList(1, 2, 3, 4), 2);
                return few.cartesian(few).count();
            case "fail":
                return failing(context, input);
            default:
                throw new IllegalArgumentException(work);
        }
    }

    /** Takes some 150 us. */
    private static int weigh(String line) {
        int weight = 0;
        for (int i = 0; i < 1200; i++) {
            weight = weight * 31 + line.toLowerCase(java.util.Locale.ROOT).hashCode();
        }
        return weight;
    }

    private static long cached(JavaSparkContext context, String input) {
        JavaRDD<String> lines = context.textFile(input).map(String::trim).cache();
        return lines.count() + lines.filter(line -> line.contains("b")).count();
    }

    private static Object words(JavaSparkContext context, String input, String folder) {
        JavaPairRDD<String, Integer> counts =
                context.textFile(input).flatMap(line -> Arrays.asList(line.split(" ")).iterator())
                        .mapToPair(word -> new Tuple2<>(word, 1)).reduceByKey(Integer::sum, 3);
        counts.saveAsTextFile(folder + "/words");
        return counts.count();
    }

    private static Object parquet(SparkSession spark, String input, String folder) {
        Dataset<Row> lines = spark.read().text(input).selectExpr("value", "length(value) as n", "hash(value) as h");
        lines.repartition(3).write().mode("overwrite").parquet(folder + "/table");
        return spark.read().parquet(folder + "/table").filter("n > 10")
                .agg(java.util.Collections.singletonMap("h", "max"))
                .collectAsList();
    }

    /** The first attempt of one task fails. */
    private static Object failing(JavaSparkContext context, String input) {
        List<Integer> parts = new ArrayList<>(Arrays.asList(0, 1));
        return context.parallelize(parts, 2).map(part -> {
            if (part == 1 && org.apache.spark.TaskContext.get().attemptNumber() == 0) {
                throw new IllegalStateException("as ordered");
            }
            return part;
        }).count();
    }
}
