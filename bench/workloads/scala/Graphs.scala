package io.plumbline.workloads

import org.apache.spark.graphx.{Edge, EdgeContext, Graph, PartitionStrategy, VertexId}

/** Pages whose links go to popular ones. size: pages, rounds. */
object PageRank extends Workload {
  private val Links = 5

  def generate(job: Job): Unit = {
    val pages = job("pages")
    job
      .drawn(pages * Links) { (random, i) => s"$i ${i % pages} ${Draw.zipf(random, pages)}" }
      .saveAsTextFile(job.input)
  }

  def run(job: Job): Map[String, Double] = {
    val lines = job.sc.textFile(job.input, 1)
    val links = lines
      .map { line =>
        val words = line.split("\\s+")
        (words(words.length - 2), words(words.length - 1))
      }
      .distinct()
      .groupByKey()
      .cache()
    var ranks = links.mapValues(_ => 1.0)
    for (_ <- 1L to job("rounds")) {
      val contributions = links.join(ranks).values.flatMap { case (urls, rank) =>
        val size = urls.size
        urls.map(url => (url, rank / size))
      }
      ranks = contributions.reduceByKey(_ + _).mapValues(0.15 + 0.85 * _)
    }
    ranks.saveAsTextFile(job.output)
    Map.empty
  }

  override def check(job: Job): Map[String, Double] = {
    val ranks = job.sc.textFile(job.output).map(_.stripSuffix(")").split(",")(1).toDouble)
    Map("pages" -> ranks.count().toDouble, "greatest" -> ranks.max())
  }
}

/** How near vertices are to those n steps away, the nearest few of each. size: edges, degree (steps), skew,
  * even. */
object NWeight extends Workload {
  private val EdgesOfVertex = 10
  private val Kept = 30

  def generate(job: Job): Unit = {
    val vertices = math.max(2, job("edges") / EdgesOfVertex)
    job
      .drawn(vertices) { (random, vertex) =>
        val ends = Seq.fill(EdgesOfVertex)(Draw.zipf(random, vertices)).distinct.filter(_ != vertex)
        ends.map(end => f"$end:${random.nextDouble()}%.4f").mkString(s"$vertex\t", ",", "")
      }
      .saveAsTextFile(job.input)
  }

  override def even(job: Job): Unit = job.sc.textFile(job.made).repartition(job.evenParts).saveAsTextFile(job.input)

  private type Near = Map[VertexId, Double]

  private def merge(a: Near, b: Near): Near =
    b.foldLeft(a) { case (sum, (vertex, weight)) => sum.updated(vertex, sum.getOrElse(vertex, 0.0) + weight) }

  private def nearest(near: Near): Near =
    if (near.size <= Kept) near else near.toSeq.sortBy { case (vertex, weight) => (-weight, vertex) }.take(Kept).toMap

  def run(job: Job): Map[String, Double] = {
    val edges = job.sc.textFile(job.input, job.partitions).flatMap { line =>
      val Array(from, rest) = line.split("\t", 2)
      rest.split(",").filter(_.nonEmpty).map { pair =>
        val Array(to, weight) = pair.split(":")
        Edge(from.toLong, to.toLong, weight.toDouble)
      }
    }
    val graph = Graph.fromEdges(edges, Map.empty: Near).partitionBy(PartitionStrategy.EdgePartition2D).cache()
    val first = graph.aggregateMessages[Near](edge => edge.sendToSrc(Map(edge.dstId -> edge.attr)), merge)
    var near = graph.outerJoinVertices(first)((_, _, found) => nearest(found.getOrElse(Map.empty)))
    for (_ <- 2L to job("degree")) {
      val further = near.aggregateMessages[Near](
        (edge: EdgeContext[Near, Double, Near]) =>
          edge.sendToSrc((edge.dstAttr - edge.srcId).map { case (vertex, weight) => (vertex, weight * edge.attr) }),
        merge
      )
      near = near.outerJoinVertices(further)((_, _, found) => nearest(found.getOrElse(Map.empty)))
    }
    near.vertices.map { case (vertex, found) => s"$vertex\t${found.mkString(",")}" }.saveAsTextFile(job.output)
    Map.empty
  }

  override def check(job: Job): Map[String, Double] = {
    val near = job.sc.textFile(job.output).map(_.split("\t", -1)(1).split(",").count(_.nonEmpty))
    Map("vertices" -> near.count().toDouble, "most" -> near.max().toDouble)
  }
}
