"""Jobs of Spark that have one fault each: advise_jobs.py NAME FOLDER."""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

HOT_KEY = -21  # Spark's hash has it in partition 63 of 64


def done(frame):
    """Computes all of it, and writes nothing."""
    frame.write.format("noop").mode("overwrite").save()


def spill(spark, _):
    """Sorts more than fits the memory of a task."""
    text = F.concat(*(F.hex(F.xxhash64("id", F.lit(part))) for part in range(6)))
    rows = spark.range(0, 6_000_000, 1, 4).select(F.xxhash64("id").alias("key"), text.alias("text"))
    done(rows.repartition("key").sortWithinPartitions("key"))


def two(spark, _):
    """Two tasks do what could be done by four, and more than fits their memory."""
    rows = spark.range(0, 4_000_000, 1, 4).select("id", F.sha2(F.col("id").cast("string"), 512).alias("sum"))
    done(rows.groupBy("sum").agg(F.max("id").alias("most")))


def tiny(spark, _):
    """2,000 partitions of some rows."""
    done(spark.range(0, 200_000, 1, 4).groupBy((F.col("id") % 5000).alias("key")).count())


def skew(spark, _):
    """A join in which one key has a fifth of the rows. Its partition comes last of 64, when no others are left."""
    key = F.when(F.col("id") % 5 == 0, F.lit(HOT_KEY)).otherwise(F.col("id") % 50_000)
    left = spark.range(0, 6_000_000, 1, 4).select(key.alias("key"), F.sha2(F.col("id").cast("string"), 256).alias("a"))
    right = spark.range(HOT_KEY, 50_000, 1, 4).select(F.col("id").alias("key"), F.col("id").cast("string").alias("b"))
    joined = left.join(right.hint("merge"), "key")
    done(joined.select(F.sha2(F.concat("a", "b"), 512)).filter("substr(`sha2(concat(a, b), 512)`, 1, 3) != '000'"))


def waits(spark, _):
    """Tasks that wait, 24 and 12 of them and a join of both: they take as long on a busy machine as on any."""
    context = spark.sparkContext

    def pause(key):
        time.sleep(4.5 if key % 6 == 0 else 1.5)
        return key % 4, key

    left, right = context.parallelize(range(24), 24).map(pause), context.parallelize(range(12), 12).map(pause)
    left.join(right, 4).foreachPartition(lambda _: time.sleep(3))


def small(spark, folder):
    """200 small files, a task each."""
    rows = spark.read.parquet(f"{folder}/small")
    done(rows.groupBy((F.col("id") % 16).alias("key")).count())


def make_small(spark, folder):
    spark.range(0, 400_000, 1, 200).write.mode("overwrite").parquet(f"{folder}/small")


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    globals()[sys.argv[1]](session, sys.argv[2])
    session.stop()
