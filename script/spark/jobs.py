"""Small jobs, run by spark-submit: jobs.py NAME ARGUMENT... The work of tasks is in JVMs unless said otherwise."""

import json
import os
import random
import sys
import threading
import time
from operator import add
from pathlib import Path

from pyspark import TaskContext
from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

JOBS = {}


def job(function):
    JOBS[function.__name__] = function
    return function


def say(**values):
    print(json.dumps(values), flush=True)


# ---- the jobs of everyday life ----


@job
def wordcount(spark, path, out=None):
    """Over lines of text, in Python: HadoopRDD, PythonRDD, a shuffle."""
    words = spark.sparkContext.textFile(path).flatMap(lambda line: line.split()).map(lambda word: (word, 1))
    counts = words.reduceByKey(add, 8)
    if out:
        counts.saveAsTextFile(out)
    say(words=counts.count())


@job
def text(spark, path, word):
    """Maps and filters over text, no shuffle."""
    lines = spark.sparkContext.textFile(path).map(lambda line: line.lower()).filter(lambda line: word in line)
    say(lines=lines.map(len).count())


@job
def scan(spark, path, repeat="1"):
    """Reads lines of text and counts them: little but HDFS. Each time is a job."""
    for _ in range(int(repeat)):
        say(lines=spark.read.text(path).filter(F.length("value") > 0).agg(F.count("*")).first()[0])


@job
def scan_on(spark, path, over):
    """Until the file 'over' is there."""
    while not Path(over).exists():
        scan(spark, path)


@job
def write_on(spark, out, over, tasks="9", rows="16000"):
    """Little but writing to HDFS, 2 MB in each task, again and again until the file 'over' is there."""
    lines = spark.range(0, int(tasks) * int(rows), 1, int(tasks)).select(F.sha2(F.col("id").cast("string"), 512))
    while not Path(over).exists():
        lines.write.mode("overwrite").text(out)


@job
def sort(spark, path, out):
    spark.read.text(path).orderBy("value").write.mode("overwrite").text(out)


@job
def parquet(spark, path, out):
    """Text to Parquet, and a scan of two of its columns."""
    words = spark.read.text(path).select(F.explode(F.split("value", " ")).alias("word"))
    words.select(
        "word", F.length("word").alias("length"), F.xxhash64("word").alias("id"), F.md5("word").alias("sum")
    ).write.mode("overwrite").parquet(out)
    say(long=spark.read.parquet(out).filter("length > 4").agg(F.count("id")).first()[0])


@job
def join(spark, path, table):
    """Of a Parquet table with itself, by sorting both sides."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    words = spark.read.parquet(table)
    counts = words.groupBy("word").agg(F.count("*").alias("n"))
    say(rows=words.join(counts, "word").filter("n > 1").agg(F.sum("n")).first()[0])


@job
def bayes(spark, rows="20000", partitions="12"):
    """Naive Bayes of MLlib, through the JVM's own classes: no numpy is needed."""
    jvm = spark.sparkContext._jvm
    data = spark.range(0, int(rows), 1, int(partitions)).select(
        (F.col("id") % 3).cast("double").alias("label"),
        *(
            (F.hash("id", F.lit(i)) % 5 + 5 + (F.col("id") % 3) * (i % 3)).cast("double").alias(f"f{i}")
            for i in range(10)
        ),
    )
    names = spark.sparkContext._gateway.new_array(jvm.java.lang.String, 10)
    for i in range(10):
        names[i] = f"f{i}"
    vectors = (
        jvm.org.apache.spark.ml.feature.VectorAssembler()
        .setInputCols(names)
        .setOutputCol("features")
        .transform(data._jdf)
    )
    model = jvm.org.apache.spark.ml.classification.NaiveBayes().setModelType("multinomial").fit(vectors)
    predicted = DataFrame(model.transform(vectors), spark)
    say(right=predicted.filter("prediction = label").count(), of=int(rows))


@job
def bayes_for(spark, seconds):
    """Again and again, for so long."""
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        bayes(spark, 60_000, 30)


@job
def mixed(spark, path, out):
    """Lines, words and a table: what reads and writes HDFS in different ways."""
    scan(spark, path, 2)
    wordcount(spark, path, f"{out}/words")
    parquet(spark, path, f"{out}/table")


@job
def several(spark, path, out):
    """One of each kind, one after the other."""
    wordcount(spark, path, f"{out}/words")
    text(spark, path, "a")
    sort(spark, path, f"{out}/sorted")
    parquet(spark, path, f"{out}/table")
    join(spark, path, f"{out}/table")
    bayes(spark, 2000, 4)


# ---- with something that makes tasks slow ----


@job
def skewed(spark, path, share, partitions="32"):
    """One key has this share of all rows; the others are even. Prints which partition it is in."""
    rows = spark.read.text(path).select(
        F.when(F.rand(7) < float(share), F.lit(-1)).otherwise(F.xxhash64("value") % 100_000).alias("key"), "value"
    )
    rows = rows.repartition(int(partitions), "key")
    hot = spark.range(1).select(F.expr(f"pmod(hash(cast(-1 as bigint)), {int(partitions)})")).first()[0]
    say(partition=hot)
    heavy = rows.select("key", F.sha2(F.concat("value", F.lit("x")), 512).alias("sum")).filter(
        "substr(sum, 1, 4) != '0000'"
    )
    say(rows=heavy.agg(F.count("sum")).first()[0])


@job
def shuffled(spark, path, partitions="32", repeat="1"):
    """Even work: a shuffle of all lines by their content, and sums over them."""
    for _ in range(int(repeat)):
        rows = spark.read.text(path).repartition(int(partitions), "value")
        say(rows=rows.select(F.sha2("value", 512).alias("sum")).filter("substr(sum, 1, 4) != '0000'").count())


# ---- what event logs must be able to tell ----


@job
def queries(spark, folder):
    """Queries of Spark SQL, each with its description: a table by days and many files, a small one, both kinds of join,
    a window that is sorted, without and with adaptive execution, and one that fails."""
    rows = spark.range(0, 60_000, 1, 6).select(
        "id",
        (F.col("id") % 997).alias("customer"),
        (F.col("id") % 3).alias("day"),
        F.sha2(F.col("id").cast("string"), 512).alias("note"),
    )
    describe = spark.sparkContext.setJobDescription
    describe("write the tables")
    rows.write.mode("overwrite").partitionBy("day").parquet(f"{folder}/orders")
    spark.range(0, 997, 1, 1).select(
        F.col("id").alias("customer"), F.md5(F.col("id").cast("string")).alias("name")
    ).write.mode("overwrite").parquet(f"{folder}/customers")
    orders, customers = (spark.read.parquet(f"{folder}/{name}") for name in ("orders", "customers"))
    for adaptive in ("false", "true"):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        describe("orders by customer, sorted")
        joined = orders.filter("day = 1").join(customers, "customer").groupBy("name").agg(F.max("note").alias("most"))
        say(names=joined.filter("most > '8'").count())
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10m")
        describe("orders by customer, broadcast")
        say(rows=orders.join(customers, "customer").filter("id % 50 = 7").count())
    describe("latest of each customer")
    orders.createOrReplaceTempView("orders")
    latest = "SELECT customer, note, row_number() OVER (PARTITION BY customer ORDER BY id DESC) n FROM orders"
    say(rows=spark.sql(f"SELECT count(note) FROM ({latest}) WHERE n = 1").first()[0])
    describe("fails")
    try:
        spark.sql("SELECT count(raise_error('no luck')) FROM orders").collect()
    except Exception as error:
        say(failed=type(error).__name__)


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@job
def failing(spark, times):
    """Partition 3 fails so many times; the job ends well when that is less than spark.task.maxFailures."""

    def work(number, values):
        if number == 3 and TaskContext.get().attemptNumber() < int(times):
            raise ValueError("this partition is broken")
        return [sum(values)]

    say(sum=spark.sparkContext.parallelize(range(1000), 8).mapPartitionsWithIndex(work).sum())


@job
def slow_partition(spark, seconds):
    """The first attempt of partition 5 takes so long, other attempts do not: for speculation."""

    def work(number, values):
        first = TaskContext.get().attemptNumber() == 0
        busy(float(seconds) if number == 5 and first else 0.2)
        return [sum(values)]

    say(sum=spark.sparkContext.parallelize(range(1000), 9).mapPartitionsWithIndex(work).sum())
    time.sleep(10)  # the attempt that lost is killed meanwhile, and its end is heard of


@job
def cancelled(spark, seconds):
    """A job that is cancelled while its tasks run, and one after it."""
    context = spark.sparkContext

    def sleep(_):
        time.sleep(float(seconds))
        return []

    def count():
        try:
            context.parallelize(range(6), 6).mapPartitions(sleep).count()
        except Exception as error:  # that is what is asked for
            say(error=type(error).__name__)

    thread = threading.Thread(target=count)
    thread.start()
    while not running_tasks(context):
        time.sleep(0.05)
    context.cancelAllJobs()
    thread.join()
    say(sum=context.parallelize(range(100), 4).sum())


def running_tasks(context):
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage)


@job
def lossy(spark, seconds, folder):
    """A shuffle whose reading takes a while: each of its tasks leaves a file in 'folder' when it begins, so that
    whoever looks on can take an executor away meanwhile, with what was written there."""
    pairs = spark.sparkContext.parallelize(range(4000), 6).map(lambda n: (n % 50, n)).reduceByKey(add, 12)

    def slow(number, values):
        Path(folder, str(number)).touch()
        time.sleep(float(seconds))
        return values

    say(keys=pairs.mapPartitionsWithIndex(slow).count())


@job
def long_running(spark, seconds):
    """Small jobs, one after the other, for so long."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        spark.sparkContext.parallelize(range(100), 4).map(lambda n: n + 1).sum()
        say(job="done")


@job
def waiting(spark):
    """Tasks that only wait, so that as many run at once as there are cores, however busy the machine is: two stages of
    uneven tasks, time of the driver, and one stage more."""

    def wait(number):
        time.sleep(1 + 0.25 * (number % 5))
        return number % 6, number

    def wait_again(pair):
        time.sleep(1.5)
        return len(list(pair[1]))

    context = spark.sparkContext
    say(waited=context.parallelize(range(20), 20).map(wait).groupByKey(6).map(wait_again).sum())
    time.sleep(3)
    say(waited=context.parallelize(range(7), 7).map(wait).count())


@job
def given(spark):
    """Tasks that fail on executor 0, until it gets no more of them; and a stage with resources of its own."""

    def work(number):
        if os.path.basename(os.getcwd()) == "0" and number >= 0:
            raise ValueError("not here")
        time.sleep(2)
        return number

    context = spark.sparkContext
    say(sum=context.parallelize(range(8), 8).map(work).sum())
    profile = ResourceProfileBuilder().require(TaskResourceRequests().cpus(1)).build
    say(sum=context.parallelize(range(-8, 0), 8).withResources(profile).map(work).sum())


@job
def evicting(spark):
    """Two RDDs that are kept, of which memory has room for little more than one: the first is computed again."""

    def lines(number):
        return [random.Random(number * 100 + i).randbytes(1 << 20) for i in range(10)]

    context = spark.sparkContext
    first, second = (context.parallelize(range(begin, begin + 8), 8).flatMap(lines).cache() for begin in (0, 8))
    say(lines=[kept.count() for kept in (first, second, first)])


@job
def nothing(spark):
    """An application without a job."""
    say(version=spark.version)


def main():
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try:
        JOBS[sys.argv[1]](spark, *sys.argv[2:])
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
