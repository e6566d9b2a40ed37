package io.plumbline.workloads

import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.{BytesWritable, LongWritable, NullWritable, Text}
import org.apache.hadoop.mapreduce.lib.input.FixedLengthInputFormat
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat
import org.apache.spark.{HashPartitioner, RangePartitioner}
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.util.SerializableConfiguration

/** Lines of ten uniform words, in a sequence file, as RandomTextWriter makes them. size: lines. */
abstract class OnText extends Workload {
  private val words = 1000

  def generate(job: Job): Unit = {
    val random = new scala.util.Random(1)
    val known = job.sc.broadcast(Array.fill(words)(Draw.word(random)))
    job
      .drawn(job("lines")) { (draw, _) => Seq.fill(10)(known.value(draw.nextInt(words))).mkString(" ") }
      .map(line => (NullWritable.get(), new Text(line)))
      .saveAsSequenceFile(job.input)
  }

  protected def load(job: Job): RDD[String] =
    job.sc.sequenceFile[NullWritable, Text](job.input).map(_._2.toString)

  protected def written(job: Job): RDD[String] =
    job.sc.sequenceFile[NullWritable, Text](job.output).map(_._2.toString)

  protected def save(job: Job, data: RDD[_]): Unit =
    data.map(value => (NullWritable.get(), new Text(value.toString))).saveAsSequenceFile(job.output)
}

object WordCount extends OnText {
  def run(job: Job): Map[String, Double] = {
    val counts = load(job).flatMap(_.split(" ")).map(word => (word, 1)).reduceByKey(_ + _)
    save(job, counts)
    Map.empty
  }

  override def check(job: Job): Map[String, Double] = {
    val counts = written(job).map(_.stripPrefix("(").stripSuffix(")").split(",")(1).toLong)
    Map("words" -> counts.count().toDouble, "total" -> counts.sum())
  }
}

object Sort extends OnText {
  def run(job: Job): Map[String, Double] = {
    val data = load(job).map((_, 1))
    val sorted = new ShuffledRDD[String, Int, Int](data, new HashPartitioner(job.partitions))
      .setKeyOrdering(Ordering.String)
      .map(_._1)
    save(job, sorted)
    Map.empty
  }

  override def check(job: Job): Map[String, Double] = {
    val wrong = written(job).mapPartitions { lines =>
      Iterator(lines.sliding(2).count(pair => pair.size == 2 && pair(0) > pair(1)))
    }
    Map("lines" -> written(job).count().toDouble, "out of order" -> wrong.sum())
  }
}

/** Rows of 100 bytes, the first ten of which are the key. size: rows. */
object TeraSort extends Workload {
  private val Row = 100
  private val Key = 10

  private implicit object ByBytes extends Ordering[Array[Byte]] {
    def compare(a: Array[Byte], b: Array[Byte]): Int = java.util.Arrays.compareUnsigned(a, b)
  }

  def generate(job: Job): Unit = {
    val conf = new SerializableConfiguration(job.sc.hadoopConfiguration)
    val folder = job.input
    job
      .drawn(job("rows")) { (random, _) =>
        val row = new Array[Byte](Row)
        random.nextBytes(row)
        row
      }
      .mapPartitionsWithIndex { (part, rows) =>
        val path = new Path(folder, f"part-$part%05d")
        val out = path.getFileSystem(conf.value).create(path)
        try rows.foreach(out.write(_, 0, Row))
        finally out.close()
        Iterator(part)
      }
      .count()
  }

  def run(job: Job): Map[String, Double] = {
    job.sc.hadoopConfiguration.setInt(FixedLengthInputFormat.FIXED_RECORD_LENGTH, Row)
    val data = job.sc
      .newAPIHadoopFile[LongWritable, BytesWritable, FixedLengthInputFormat](job.input)
      .map { case (_, row) => (row.copyBytes().take(Key), row.copyBytes().drop(Key)) }
    val partitioner = new RangePartitioner(job.partitions, data)
    val sorted = new ShuffledRDD[Array[Byte], Array[Byte], Array[Byte]](data, partitioner)
      .setKeyOrdering(ByBytes)
      .map { case (key, rest) => (new BytesWritable(key), new BytesWritable(rest)) }
    sorted.saveAsNewAPIHadoopFile[SequenceFileOutputFormat[BytesWritable, BytesWritable]](job.output)
    Map.empty
  }

  /** All keys of all files, in their order: of few rows. */
  override def check(job: Job): Map[String, Double] = {
    val keys = job.sc.sequenceFile[BytesWritable, BytesWritable](job.output).map(_._1.copyBytes()).collect()
    val wrong = keys.sliding(2).count(pair => pair.length == 2 && ByBytes.gt(pair(0), pair(1)))
    Map("rows" -> keys.length.toDouble, "out of order" -> wrong.toDouble)
  }
}
