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

  override def check(job: Job): Map[String, Double] =
    Map("rows" -> job.sc.textFile(job.output).count().toDouble)
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

/** Queries of TPC-H over parquet tables that tpchgen-cli made. size: query, scale (of the data, which is there). */
object Tpch extends Workload {
  private val tables = Seq("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")

  private val queries = Map(
    1L -> """SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
      sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
      avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
      FROM lineitem WHERE l_shipdate <= date '1998-09-02'
      GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    3L -> """SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
      FROM customer, orders, lineitem
      WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
      AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15'
      GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10""",
    5L -> """SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
      FROM customer, orders, lineitem, supplier, nation, region
      WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
      AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
      AND r_name = 'ASIA' AND o_orderdate >= date '1994-01-01' AND o_orderdate < date '1995-01-01'
      GROUP BY n_name ORDER BY revenue DESC""",
    6L -> """SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
      WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
      AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"""
  )

  def generate(job: Job): Unit = throw new IllegalArgumentException("its data comes from tpchgen-cli")

  def run(job: Job): Map[String, Double] = {
    for (table <- tables) job.spark.read.parquet(s"${job.input}/$table.parquet").createOrReplaceTempView(table)
    val number = job("query")
    def unknown = throw new IllegalArgumentException(s"there is no query $number: ${queries.keys}")
    val query = queries.getOrElse(number, unknown)
    job.spark.sql(query).write.parquet(job.output)
    Map("rows" -> job.spark.read.parquet(job.output).count().toDouble)
  }
}
