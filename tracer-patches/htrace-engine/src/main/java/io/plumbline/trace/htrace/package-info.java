/**
 * Spans through the tracer of HTrace 4 (Hadoop 2.8 to 3.3.1). The agent changes a few classes of HTrace so that they
 * implement {@link io.plumbline.trace.htrace.PatchedTracer}, {@link io.plumbline.trace.htrace.PatchedScope} and
 * {@link io.plumbline.trace.htrace.PatchedSpan} and call {@link io.plumbline.trace.htrace.HTraceHooks}.
 */
package io.plumbline.trace.htrace;
