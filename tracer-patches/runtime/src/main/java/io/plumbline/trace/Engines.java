package io.plumbline.trace;

import io.plumbline.trace.own.OwnEngine;
import io.plumbline.trace.report.Trouble;

/** Chooses the engine that fits the Hadoop of this process. */
final class Engines {
    /** Only Hadoop 3.3.2 and later have this class. */
    private static final String HADOOP_TRACER = "org/apache/hadoop/tracing/Tracer.class";
    private static final String HTRACE_TRACER = "org/apache/htrace/core/Tracer.class";
    private static final String HTRACE_ENGINE = "io.plumbline.trace.htrace.HTraceEngine";

    private static volatile String chosen = "";

    private Engines() {
    }

    static Engine choose() {
        try {
            ClassLoader loader = Engines.class.getClassLoader();
            boolean htrace = loader.getResource(HADOOP_TRACER) == null && loader.getResource(HTRACE_TRACER) != null;
            Engine engine = htrace ? (Engine) Class.forName(HTRACE_ENGINE, true, loader).getConstructor().newInstance()
                    : OwnEngine.INSTANCE;
            chosen = htrace ? "HTrace" : "own";
            return engine;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            chosen = "none";
            return new NoEngine();
        }
    }

    /** "HTrace", "own" or "none"; empty before the choice. */
    static String chosen() {
        return chosen;
    }

    /** When nothing else can be had: the application goes on as without us. */
    private static final class NoEngine extends Engine {
        @Override
        public Object begin(Point point) {
            return null;
        }

        @Override
        public Object beginTask(Point point, long trace) {
            return null;
        }

        @Override
        public void leave(Object token) {
        }

        @Override
        public SpanRef capture() {
            return null;
        }

        @Override
        public OpenScope beginBelow(SpanRef parent, Point point) {
            return null;
        }

        @Override
        public void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        }
    }
}
