package io.plumbline.workloads

import java.nio.ByteBuffer

import org.apache.hadoop.io.{BytesWritable, LongWritable, Text}
import org.apache.spark.mllib.classification.{LogisticRegressionWithLBFGS, NaiveBayes, SVMWithSGD}
import org.apache.spark.mllib.clustering.KMeans
import org.apache.spark.mllib.evaluation.BinaryClassificationMetrics
import org.apache.spark.mllib.linalg.{SparseVector, Vector, Vectors}
import org.apache.spark.mllib.linalg.distributed.RowMatrix
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

/** Points around k centres. size: points, dimensions, clusters, rounds. */
object KMeansClusters extends Workload {
  def generate(job: Job): Unit = {
    val (dimensions, clusters) = (job("dimensions").toInt, job("clusters").toInt)
    job
      .drawn(job("points")) { (random, i) =>
        val centre = i % clusters
        val bytes = ByteBuffer.allocate(8 * dimensions)
        for (d <- 0 until dimensions) bytes.putDouble((centre * 7 + d * 3) % clusters * 10 + random.nextGaussian())
        (i, bytes.array())
      }
      .saveAsSequenceFile(job.input)
  }

  def run(job: Job): Map[String, Double] = {
    val data = job.sc.sequenceFile[LongWritable, BytesWritable](job.input)
    val examples = data.map { case (_, bytes) =>
      val buffer = ByteBuffer.wrap(bytes.copyBytes())
      Vectors.dense(Array.fill(buffer.limit() / 8)(buffer.getDouble()))
    }.cache()
    val points = examples.count()
    val model = new KMeans()
      .setInitializationMode(KMeans.RANDOM)
      .setK(job("clusters").toInt)
      .setMaxIterations(job("rounds").toInt)
      .run(examples)
    Map("points" -> points.toDouble, "cost" -> model.computeCost(examples))
  }
}

/** Pages whose words follow Zipf's law, each class with an order of its own. size: pages, classes. */
object Bayes extends Workload {
  private val Words = 2000
  private val WordsOfPage = 40

  def generate(job: Job): Unit = {
    val classes = job("classes")
    job
      .drawn(job("pages")) { (random, i) =>
        val kind = i % classes
        val words = Seq.fill(WordsOfPage)((Draw.zipf(random, Words) + kind * 17) % Words)
        (new Text(s"/class$kind"), new Text(words.map("w" + _).mkString(" ")))
      }
      .saveAsSequenceFile(job.input)
  }

  def run(job: Job): Map[String, Double] = {
    val data = job.sc.sequenceFile[Text, Text](job.input).map { case (key, page) => (key.toString, page.toString) }
    val wordCount = data.flatMap { case (_, page) => page.split(" ") }.map((_, 1L)).reduceByKey(_ + _)
    val wordSum = wordCount.map(_._2).reduce(_ + _)
    val wordDict = wordCount
      .zipWithIndex()
      .map { case ((word, count), index) => (word, (index.toInt, count.toDouble / wordSum)) }
      .collectAsMap()
    val sharedDict = job.sc.broadcast(wordDict)

    val vector = data.map { case (key, page) =>
      val values = page.split(" ").map(sharedDict.value(_)).groupBy(_._1).map { case (k, v) => (k, v.map(_._2).sum) }
      val (indices, weights) = values.toList.sortBy(_._1).unzip
      LabeledPoint(key.substring(6).toDouble, Vectors.sparse(sharedDict.value.size, indices.toArray, weights.toArray))
    }
    vector.persist(StorageLevel.MEMORY_ONLY)
    val features = vector.map(_.features.size).reduce(math.max)
    val examples = vector.map { point =>
      val sparse = point.features.asInstanceOf[SparseVector]
      LabeledPoint(point.label, Vectors.sparse(features, sparse.indices, sparse.values))
    }
    examples.cache()
    val Array(training, test) = examples.randomSplit(Array(0.8, 0.2), seed = 1L)
    training.count()
    val tested = test.count()
    val model = new NaiveBayes().setLambda(1.0).run(training)
    val right = model.predict(test.map(_.features)).zip(test.map(_.label)).filter { case (a, b) => a == b }.count()
    Map("tested" -> tested.toDouble, "accuracy" -> right.toDouble / tested)
  }
}

/** Examples of two classes that a plane parts, but for noise, in an object file. size: examples, features, skew,
  * even. */
abstract class OnPoints extends Workload {
  def generate(job: Job): Unit = {
    val features = job("features").toInt
    job
      .drawn(job("examples")) { (random, _) =>
        val x = Array.fill(features)(random.nextGaussian())
        val side = x.zipWithIndex.map { case (value, i) => if (i % 2 == 0) value else -value }.sum
        LabeledPoint(if (side + random.nextGaussian() > 0) 1 else 0, Vectors.dense(x))
      }
      .saveAsObjectFile(job.input)
  }

  override def even(job: Job): Unit =
    job.sc.objectFile[LabeledPoint](job.made).repartition(job.evenParts).saveAsObjectFile(job.input)

  protected def load(job: Job): RDD[LabeledPoint] = job.sc.objectFile[LabeledPoint](job.input)
}

object Regression extends OnPoints {
  def run(job: Job): Map[String, Double] = {
    val splits = load(job).randomSplit(Array(0.8, 0.2), seed = 1L)
    val (training, test) = (splits(0).cache(), splits(1))
    val model = new LogisticRegressionWithLBFGS().setNumClasses(2).run(training)
    val said = test.map(point => (model.predict(point.features), point.label))
    Map("accuracy" -> said.filter { case (a, b) => a == b }.count().toDouble / said.count())
  }
}

/** size: also rounds. */
object SupportVectors extends OnPoints {
  def run(job: Job): Map[String, Double] = {
    val splits = load(job).randomSplit(Array(0.6, 0.4), seed = 11L)
    val (training, test) = (splits(0).cache(), splits(1))
    val model = SVMWithSGD.train(training, job("rounds").toInt)
    model.clearThreshold()
    val scores = test.map(point => (model.predict(point.features), point.label))
    Map("area" -> new BinaryClassificationMetrics(scores).areaUnderROC())
  }
}

/** Points that spread along few directions. size: examples, features, components. */
object Components extends Workload {
  def generate(job: Job): Unit = {
    val features = job("features").toInt
    job
      .drawn(job("examples")) { (random, _) =>
        val along = random.nextGaussian() * 10
        Vectors.dense(Array.tabulate(features)(i => (if (i == 0) along else 0) + random.nextGaussian()))
      }
      .saveAsObjectFile(job.input)
  }

  def run(job: Job): Map[String, Double] = {
    val data = job.sc.objectFile[Vector](job.input)
    val matrix = new RowMatrix(data)
    val components = matrix.computePrincipalComponents(job("components").toInt)
    val projected = matrix.multiply(components)
    Map("first" -> math.abs(components(0, 0)), "rows" -> projected.rows.count().toDouble)
  }
}
