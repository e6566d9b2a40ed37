package io.plumbline.spark;

import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * {@code spark.plugins = io.plumbline.spark.PlumbPlugin}, for sites without -javaagent (Spark 3.1 and later): each task
 * is a trace. What of HDFS is in it depends on who traces that: {@link Coverage} says so in the executor's log. Beside
 * the agent it does nothing.
 */
public final class PlumbPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Tasks();
    }

    private static final class Tasks implements ExecutorPlugin {
        @Override
        public void init(PluginContext context, Map<String, String> extraConf) {
            PluginTasks.configure(context.conf());
            Coverage.log();
        }

        /** On the task's thread. Its end is heard of by a listener, which is told of every kind of end. */
        @Override
        public void onTaskStart() {
            PluginTasks.start();
        }
    }
}
