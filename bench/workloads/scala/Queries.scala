package io.plumbline.workloads

/** Visits and the pages that were visited, as text. size: visits, pages. */
abstract class OnVisits extends Workload {
  private val visits = "sourceIP STRING, destURL STRING, visitDate STRING, adRevenue DOUBLE, userAgent STRING, " +
    "countryCode STRING, languageCode STRING, searchWord STRING, duration INT"
  private val rankings = "pageURL STRING, pageRank INT, avgDuration INT"

  def generate(job: Job): Unit = {
    val pages = job("pages")
    job
      .drawn(job("visits")) { (random, _) =>
        val ip = Seq(random.nextInt(64), random.nextInt(64)).mkString("10.0.", ".", "")
        val day = f"${1998 + random.nextInt(3)}-${1 + random.nextInt(12)}%02d-${1 + random.nextInt(28)}%02d"
        Seq(ip, s"url${Draw.zipf(random, pages)}", day, f"${random.nextDouble()}%.6f", "agent", "USA", "USA-EN",
          Draw.word(random), random.nextInt(10)).mkString(",")
      }
      .saveAsTextFile(s"${job.input}/uservisits")
    job
      .drawn(pages) { (random, i) => s"url$i,${random.nextInt(100)},${random.nextInt(100)}" }
      .saveAsTextFile(s"${job.input}/rankings")
  }

  protected val query: String

  def run(job: Job): Map[String, Double] = {
    for ((name, schema) <- Seq("uservisits" -> visits, "rankings" -> rankings))
      job.spark.read.schema(schema).csv(s"${job.input}/$name").createOrReplaceTempView(name)
    job.spark.sql(query).write.csv(job.output)
    Map.empty
  }
}

object Scan extends OnVisits {
  protected val query = "SELECT * FROM uservisits"
}

object Aggregation extends OnVisits {
  protected val query = "SELECT sourceIP, SUM(adRevenue) FROM uservisits GROUP BY sourceIP"
}

object Join extends OnVisits {
  protected val query =
    """SELECT sourceIP, avg(pageRank), sum(adRevenue) AS totalRevenue FROM rankings R JOIN (
      SELECT sourceIP, destURL, adRevenue FROM uservisits UV
      WHERE datediff(UV.visitDate, '1999-01-01') >= 0 AND datediff(UV.visitDate, '2000-01-01') <= 0
    ) NUV ON R.pageURL = NUV.destURL GROUP BY sourceIP ORDER BY totalRevenue DESC"""
}
