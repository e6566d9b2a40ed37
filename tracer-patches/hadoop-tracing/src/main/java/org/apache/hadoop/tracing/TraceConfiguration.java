package org.apache.hadoop.tracing;

/** Configuration of tracers; {@link TraceUtils#wrapHadoopConf} has handed on what is in it. */
public class TraceConfiguration {
    public TraceConfiguration() {
    }
}
