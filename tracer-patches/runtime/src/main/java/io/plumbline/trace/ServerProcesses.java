package io.plumbline.trace;

/**
 * Main classes of servers. They are started once and work for all: whoever started them, perhaps a step of a deployment
 * that is traced, is not who they work for.
 */
final class ServerProcesses {
    /** Up to a dot: whatever is in that package. */
    private static final String[] NAMES = {
        // Hadoop
        "org.apache.hadoop.hdfs.server.", "org.apache.hadoop.hdfs.qjournal.", "org.apache.hadoop.hdfs.nfs.",
        "org.apache.hadoop.fs.http.server.", "org.apache.hadoop.crypto.key.kms.server.",
        "org.apache.hadoop.yarn.server.", "org.apache.hadoop.mapreduce.v2.hs.",
        // HBase
        "org.apache.hadoop.hbase.master.HMaster", "org.apache.hadoop.hbase.regionserver.HRegionServer",
        "org.apache.hadoop.hbase.rest.RESTServer", "org.apache.hadoop.hbase.thrift.ThriftServer",
        "org.apache.hadoop.hbase.thrift2.ThriftServer",
        // Hive
        "org.apache.hive.service.server.HiveServer2", "org.apache.hadoop.hive.metastore.HiveMetaStore",
        "org.apache.hadoop.hive.llap.daemon.impl.LlapDaemon",
        // Spark
        "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker",
        "org.apache.spark.deploy.history.HistoryServer", "org.apache.spark.deploy.ExternalShuffleService",
        "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
        "org.apache.spark.sql.connect.service.SparkConnectServer", "org.apache.livy.server.LivyServer",
        // Flink
        "org.apache.flink.runtime.", "org.apache.flink.container.entrypoint.", "org.apache.flink.kubernetes.",
        "org.apache.flink.yarn.",
        // others that keep their data in HDFS
        "io.trino.server.TrinoServer", "com.facebook.presto.server.PrestoServer",
        "org.apache.oozie.server.EmbeddedOozieServer",};

    private ServerProcesses() {
    }

    /**
     * @param command
     *            the main class and its arguments: RunJar and SparkSubmit have the class that they run among them
     */
    static boolean has(String command) {
        for (String word : command.split("\\s+")) {
            if (named(word)) {
                return true;
            }
        }
        return false;
    }

    private static boolean named(String word) {
        for (String name : NAMES) {
            if (name.endsWith(".") ? word.startsWith(name) : word.equals(name)) {
                return true;
            }
        }
        return false;
    }
}
