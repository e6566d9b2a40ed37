package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Which span the process was started for, and what of it goes below that. Nothing throws. Any thread. */
final class ParentOfProcess {
    static final String VARIABLE = "TRACEPARENT";
    static final String PROPERTY = "spark.executorEnv." + VARIABLE;
    private static final String COMMAND = "sun.java.command";
    private static final Logger LOG = Logger.getLogger("io.plumbline.trace");

    private final UnaryOperator<String> properties;
    private final RootBound bound;
    private final TraceParent fixed;
    /** The properties of an application are there only when its main class begins. */
    private final boolean spark;
    private volatile String last;
    private volatile TraceParent ofDriver;

    /** Loaded when the first root begins, which is when the bound's time begins. */
    private static final class Current {
        static final ParentOfProcess PARENT = new ParentOfProcess(() -> Settings.current().on("application.spans"),
                System::getProperty, ParentOfProcess::variable, System::nanoTime);
        /** A constant to the compiler. */
        static final boolean NEVER = PARENT.fixed == null && !PARENT.spark;
    }

    /** What it reads may throw, as where a security manager forbids it: then there is no parent. */
    ParentOfProcess(BooleanSupplier wanted, UnaryOperator<String> properties, UnaryOperator<String> variables,
            LongSupplier nanos) {
        TraceParent parent = null;
        boolean submitted = false;
        try {
            String command = Objects.toString(properties.apply(COMMAND), "");
            if (wanted.getAsBoolean() && !ServerProcesses.has(command)) {
                submitted = command.startsWith("org.apache.spark.deploy.");
                parent = TraceParent.parse(variables.apply(VARIABLE));
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
        this.properties = properties;
        fixed = parent;
        spark = submitted;
        bound = new RootBound(nanos, ParentOfProcess::tell);
    }

    private static String variable(String name) {
        String value = System.getenv(name);
        return value != null && WorkerOfSpark.gave(System.getProperty(COMMAND, ""), name, value) ? null : value;
    }

    private static void tell() {
        LOG.log(Level.INFO, "no more goes below the span that this process was started for: it has had {0} roots, or a"
                + " day; sampling decides from now on", RootBound.MOST_ROOTS);
    }

    /** Null: none. */
    static TraceParent current() {
        return Current.NEVER ? null : Current.PARENT.get();
    }

    /** For a root that begins now; null: none that is recorded, or it has enough. */
    static SpanRef root() {
        return Current.NEVER ? null : Current.PARENT.takeRoot();
    }

    TraceParent get() {
        return fixed != null || !spark ? fixed : driver();
    }

    SpanRef takeRoot() {
        TraceParent parent = get();
        SpanRef ref = parent == null ? null : parent.ref();
        return ref != null && bound.take() ? ref : null;
    }

    private TraceParent driver() {
        try {
            String text = properties.apply(PROPERTY);
            if (!Objects.equals(text, last)) { // the same object as a rule
                ofDriver = TraceParent.parse(text);
                last = text;
            }
            return ofDriver;
        } catch (SecurityException e) {
            return null;
        }
    }
}
