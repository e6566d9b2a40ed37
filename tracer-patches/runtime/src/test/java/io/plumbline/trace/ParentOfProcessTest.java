package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which processes take over the span they were started for, and for how long. */
class ParentOfProcessTest {
    private static final String SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final String SUBMIT = "org.apache.spark.deploy.SparkSubmit --class ";

    private final Map<String, String> properties = new HashMap<>();
    private final Map<String, String> variables = new HashMap<>();
    private boolean wanted = true;
    private long nanos = Long.MAX_VALUE - 5; // which may wrap

    private ParentOfProcess process(String command) {
        properties.put("sun.java.command", command);
        return new ParentOfProcess(() -> wanted, properties::get, variables::get, () -> nanos);
    }

    private ParentOfProcess started(String command) {
        variables.put(ParentOfProcess.VARIABLE, SPAN);
        return process(command);
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.apache.hadoop.fs.FsShell -put a /a", "", "com.example.Job",
        "org.apache.hadoop.util.RunJar job.jar com.example.Job",
        "org.apache.spark.executor.CoarseGrainedExecutorBackend",
        "org.apache.flink.client.cli.CliFrontend run job.jar", "org.apache.hadoop.hbase.master.HMasterCommandLine",
        SUBMIT + "com.example.Job job.jar", "org.apache.hadoop.mapreduce.v2.app.MRAppMaster"})
    void whatWorksForOneTakesItOver(String command) {
        assertEquals(0x8448eb211c80319cL, started(command).takeRoot().trace);
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.apache.hadoop.hdfs.server.datanode.DataNode",
        "org.apache.hadoop.hdfs.qjournal.server.JournalNode",
        "org.apache.hadoop.hbase.regionserver.HRegionServer start", "org.apache.hadoop.hbase.master.HMaster start",
        "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
        "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
        "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
        "org.apache.hadoop.util.RunJar /opt/hive/lib/hive-service-3.1.3.jar "
                + "org.apache.hive.service.server.HiveServer2 --hiveconf a=b",
        SUBMIT + "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 --name Thrift spark-internal",
        "org.apache.spark.deploy.history.HistoryServer", "org.apache.spark.deploy.master.Master --port 7077",
        "org.apache.spark.deploy.worker.Worker spark://m:7077",
        "org.apache.flink.runtime.taskexecutor.TaskManagerRunner -D a=b",
        "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"})
    void whatWorksForAllDoesNot(String command) {
        properties.put(ParentOfProcess.PROPERTY, SPAN);
        ParentOfProcess process = started(command);
        assertNull(process.get());
        assertNull(process.takeRoot());
    }

    @Test
    void aDriverHasItFromSpark() {
        ParentOfProcess driver = process(SUBMIT + "com.example.Job job.jar");
        assertNull(driver.takeRoot());
        properties.put(ParentOfProcess.PROPERTY, SPAN);
        assertNotNull(driver.takeRoot());
        assertNull(process("com.example.Job").takeRoot());
    }

    @Test
    void itIsNotWanted() {
        wanted = false;
        assertNull(started("com.example.Job").takeRoot());
    }

    @Test
    void soManyRootsAndNoMore() {
        ParentOfProcess process = started("com.example.Server");
        for (int i = 0; i < RootBound.MOST_ROOTS; i++) {
            assertNotNull(process.takeRoot());
        }
        assertNull(process.takeRoot());
        assertNull(process.takeRoot());
        assertNotNull(process.get(), "tasks still say whom they work for");
    }

    @Test
    void aDayAndNoLonger() {
        ParentOfProcess process = started("com.example.Server");
        nanos += RootBound.MOST_NANOS - 1;
        assertNotNull(process.takeRoot());
        nanos++;
        assertNull(process.takeRoot());
        nanos -= 5;
        assertNull(process.takeRoot(), "once it is over, it stays so");
    }

    @Test
    void theEndIsToldOnce() {
        int[] told = {0};
        RootBound bound = new RootBound(() -> nanos, () -> told[0]++);
        nanos += RootBound.MOST_NANOS;
        assertFalse(bound.take());
        assertFalse(bound.take());
        assertEquals(1, told[0]);
    }

    /** As a security manager does. */
    @Test
    void whatIsForbiddenIsAsIfThereWasNone() {
        ParentOfProcess all = new ParentOfProcess(() -> true, ParentOfProcessTest::forbidden,
                ParentOfProcessTest::forbidden, () -> 0);
        assertNull(all.takeRoot());
        properties.put("sun.java.command", SUBMIT + "com.example.Job");
        properties.put(ParentOfProcess.PROPERTY, SPAN);
        ParentOfProcess variable = new ParentOfProcess(() -> true, properties::get, ParentOfProcessTest::forbidden,
                () -> 0);
        assertNotNull(variable.takeRoot(), "the property may be read");
        assertNull(new ParentOfProcess(() -> {
            throw new ExceptionInInitializerError("settings");
        }, properties::get, variables::get, () -> 0).takeRoot());
    }

    private static String forbidden(String name) {
        throw new SecurityException(name);
    }

    @Test
    void aWorkersOwnVariableIsToldFromTheApplications() {
        assertTrue(WorkerOfSpark.started("org.apache.spark.executor.CoarseGrainedExecutorBackend --driver-url "
                + "spark://d:1 --worker-url spark://Worker@w:2"));
        assertTrue(WorkerOfSpark.started("org.apache.spark.deploy.worker.DriverWrapper spark://Worker@w:2 a.jar A"));
        assertFalse(WorkerOfSpark.started("org.apache.spark.executor.YarnCoarseGrainedExecutorBackend --driver-url x"));
        assertFalse(WorkerOfSpark.gave("com.example.Job", "PATH", System.getenv("PATH")));
        assertEquals("1230", WorkerOfSpark.parent("1234 (a) b (c) S 1230 1234 0"));
        assertTrue(WorkerOfSpark.has("A=b\0TRACEPARENT=x\0", "TRACEPARENT", "x"));
        assertTrue(WorkerOfSpark.has("TRACEPARENT=x", "TRACEPARENT", "x"));
        assertFalse(WorkerOfSpark.has("A=b\0TRACEPARENT=xy\0MY_TRACEPARENT=x\0", "TRACEPARENT", "x"));
    }
}
