package io.plumbline.workloads

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

/** What a workload is run on: its folder, and its size by name ("pages", "rounds"). */
final class Job(val spark: SparkSession, folder: String, sizes: Map[String, Long]) {
  val sc = spark.sparkContext
  val made = s"$folder/input"
  private val even = s"$folder/even"

  /** size: even, in how many even parts the data is written anew by the step of that name; 0: it is read as it was
    * made. */
  val evenParts = sizes.getOrElse("even", 0L).toInt
  val input = if (evenParts == 0) made else even
  val output = s"$folder/output"
  val partitions = apply("partitions").toInt

  def apply(name: String): Long =
    sizes.getOrElse(name, throw new IllegalArgumentException(s"this workload needs $name=N"))

  def removeOutput(): Unit = remove(output)
  def removeInput(): Unit = Seq(made, even).foreach(remove)
  def removeEven(): Unit = remove(even)

  private def remove(name: String): Unit = {
    val path = new Path(name)
    path.getFileSystem(sc.hadoopConfiguration).delete(path, true)
  }

  /** So many values, in as many partitions as the job has; the same of each seed, however many processes make them.
    * size: skew, the percentage of them that the first partition has; 0: as many as each other one. */
  def drawn[A: scala.reflect.ClassTag](count: Long)(draw: (Random, Long) => A): RDD[A] = {
    val parts = partitions
    val first = count * sizes.getOrElse("skew", 0L) / 100
    sc.parallelize(0 until parts, parts).flatMap { part =>
      val random = new Random(1000003L * (part + 1))
      val values =
        if (first == 0) part.toLong until count by parts.toLong
        else if (part == 0) 0L until first
        else first + part - 1 until count by parts - 1L
      values.iterator.map(draw(random, _))
    }
  }
}

/** Operations of HiBench's program of that name, in its order. */
trait Workload extends Serializable {
  def generate(job: Job): Unit

  /** Writes the data that was made anew, from job.made to job.input. */
  def even(job: Job): Unit = throw new IllegalArgumentException("its data is even")

  /** Figures that the program itself computes: how good a model is. */
  def run(job: Job): Map[String, Double]

  /** Of what was written, for tests. */
  def check(job: Job): Map[String, Double] = Map.empty
}

object Draw {

  /** A rank from 0 to n - 1, by Zipf's law with exponent 1, as near as a logarithm comes. */
  def zipf(random: Random, n: Long): Long = math.min(n - 1, math.pow(n.toDouble, random.nextDouble()).toLong - 1 max 0)

  def word(random: Random): String = Seq.fill(3 + random.nextInt(8))(('a' + random.nextInt(26)).toChar).mkString
}

object Main {
  private val all: Map[String, Workload] = Map(
    "wordcount" -> WordCount,
    "sort" -> Sort,
    "terasort" -> TeraSort,
    "kmeans" -> KMeansClusters,
    "bayes" -> Bayes,
    "lr" -> Regression,
    "svm" -> SupportVectors,
    "pca" -> Components,
    "nweight" -> NWeight,
    "pagerank" -> PageRank,
    "aggregation" -> Aggregation,
    "join" -> Join,
    "scan" -> Scan,
    "tpch" -> Tpch
  )

  private def say(fields: Seq[(String, Any)]): Unit =
    println(
      fields
        .map {
          case (name, text: String) => s""""$name": "$text""""
          case (name, value)        => s""""$name": $value"""
        }
        .mkString("{", ", ", "}")
    )

  private def act(workload: Workload, job: Job, step: String): Map[String, Double] = step match {
    case "generate" =>
      job.removeInput()
      workload.generate(job)
      Map.empty
    case "even" =>
      job.removeEven()
      workload.even(job)
      Map.empty
    case "run" =>
      job.removeOutput()
      workload.run(job)
    case "check" => workload.check(job)
  }

  /** NAME FOLDER generate|even|run|check[,...] KEY=N...: the folder is of Hadoop, input and output are below it. */
  def main(arguments: Array[String]): Unit = {
    val Array(name, folder, what) = arguments.take(3)
    val workload = all.getOrElse(name, throw new IllegalArgumentException(s"there is no workload $name: ${all.keys}"))
    val sizes = arguments.drop(3).map(_.split("=", 2)).map(pair => pair(0) -> pair(1).toLong).toMap
    val spark = SparkSession.builder().getOrCreate()
    val job = new Job(spark, folder, sizes)
    for (step <- what.split(",")) {
      val begin = System.nanoTime()
      val found = act(workload, job, step)
      val seconds = (System.nanoTime() - begin) / 1e9
      say(Seq("workload" -> name, "step" -> step, "seconds" -> seconds) ++ found.toSeq.sortBy(_._1))
    }
    spark.stop()
  }
}
