package io.plumbline.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Calls that are not sampled: what every call of every application pays. Run with the agent attached; the policy is a
 * parameter, so that the fractions are as they come in practice: "1e-9" decides for each root and never says yes.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NotSampled {
    private static final int CALLS = 16;

    @Param({"plain", "never", "never;seen", "1e-9", "1e-9;seen"})
    public String policy;

    private Functions functions;
    private long x;

    /** "seen": some calls were sampled before, so that the compiler has met both ways. */
    @Setup
    public void choose() throws Exception {
        functions = policy.equals("plain") ? new Plain() : new Woven();
        if (policy.endsWith(";seen")) {
            Agent.setPolicy("0.5", functions);
            for (int i = 0; i < 100_000; i++) {
                functions.alone(i);
                functions.recorded(i, "/a");
                functions.outer(i, 2);
            }
            Agent.drain();
        }
        if (!policy.equals("plain")) {
            Agent.setPolicy(policy.split(";")[0], functions);
        }
    }

    @Benchmark
    public long root() {
        return functions.alone(x++);
    }

    @Benchmark
    public long rootWithValues() {
        return functions.recorded(x++, "/user/anna/data");
    }

    /** A function that is never a root, while nothing is going on. */
    @Benchmark
    public long notRoot() {
        return functions.inner(x++);
    }

    /** One root with 16 calls below it. */
    @Benchmark
    public long rootWith16Below() {
        return functions.outer(x++, CALLS);
    }
}
