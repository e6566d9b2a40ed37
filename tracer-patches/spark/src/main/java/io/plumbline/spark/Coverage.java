package io.plumbline.spark;

import io.plumbline.trace.report.Trouble;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What can be traced in this executor, besides tasks: found out by what the classes look like, none is made to work for
 * it.
 */
final class Coverage {
    private static final Logger LOG = Logger.getLogger("io.plumbline.spark");
    private static final String TRACER = "org.apache.hadoop.tracing.Tracer";
    private static final String HTRACE = "org.apache.htrace.core.Tracer";

    private Coverage() {
    }

    static void log() {
        try {
            LOG.log(Level.INFO, "{0}", text(Coverage.class.getClassLoader()));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    static String text(ClassLoader loader) {
        return "plumb: tasks are traced; " + hdfs(loader) + "; " + operations(loader);
    }

    private static String hdfs(ClassLoader loader) {
        Class<?> tracer = found(TRACER, loader);
        if (tracer != null) {
            return refersToUs(tracer) ? "calls of HDFS are, too"
                    : "calls of HDFS are not: this Hadoop's tracing is empty. -javaagent:plumb-agent.jar, or Hadoop's jars woven"
                            + " by 'java -jar plumb-agent.jar weave', trace them";
        }
        return found(HTRACE, loader) != null ? "calls of HDFS are as far as Hadoop's HTrace traces them"
                : "calls of HDFS are not: there is no tracing in this Hadoop, or under another name";
    }

    private static String operations(ClassLoader loader) {
        Class<?> rdd = found("org.apache.spark.rdd.RDD", loader);
        boolean woven = rdd != null && has(rdd, "plumb$iterator");
        return woven ? "operations are, too"
                : "operations are not: that needs -javaagent:plumb-agent.jar, or woven jars of Spark";
    }

    private static Class<?> found(String name, ClassLoader loader) {
        try {
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    private static boolean refersToUs(Class<?> tracer) {
        try {
            return tracer.getDeclaredField("own").getType().getName().startsWith("io.plumbline.");
        } catch (NoSuchFieldException e) {
            return false;
        }
    }

    private static boolean has(Class<?> type, String method) {
        for (java.lang.reflect.Method one : type.getDeclaredMethods()) {
            if (one.getName().equals(method)) {
                return true;
            }
        }
        return false;
    }
}
