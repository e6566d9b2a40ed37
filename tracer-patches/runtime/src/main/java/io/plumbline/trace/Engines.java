package io.plumbline.trace;

/** Chooses the engine that fits the Hadoop of this process. */
final class Engines {
    /** Only Hadoop 3.3.2 and later have this class. */
    private static final String HADOOP_TRACER = "org/apache/hadoop/tracing/Tracer.class";
    private static final String HTRACE_TRACER = "org/apache/htrace/core/Tracer.class";
    private static final String HTRACE_ENGINE = "io.plumbline.trace.htrace.HTraceEngine";

    private Engines() {
    }

    static Engine choose() {
        ClassLoader loader = Engines.class.getClassLoader();
        boolean htrace = loader.getResource(HADOOP_TRACER) == null && loader.getResource(HTRACE_TRACER) != null;
        try {
            return htrace ? (Engine) Class.forName(HTRACE_ENGINE, true, loader).getConstructor().newInstance()
                    : OwnEngine.INSTANCE;
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return new NoEngine();
        }
    }

    /** When nothing else can be had: the application goes on as without us. */
    private static final class NoEngine extends Engine {
        @Override
        public Object begin(Point point) {
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
