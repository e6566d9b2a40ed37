package io.plumbline.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * What a sampled span costs, in the thread of the application and in the one that sends, in nanoseconds of processor
 * time and bytes allocated. Not under JMH: the sender must keep up, so spans come in bursts at a rate given, and it is
 * threads that are measured, not calls. A receiver listens, a real one.
 *
 * <p>Arguments: spans a second, seconds of each measurement. Prints a line for each case: name, then of the
 * application's thread ns and bytes per span, of the sender's thread ns and bytes per span, and spans dropped.
 */
public final class Sampled {
    private static final int BURST = 1_000;
    private static final int WARM_UPS = 4;
    private static final int BELOW = 16;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final int perSecond;
    private final int seconds;
    private final Functions plain = new Plain();
    private final Functions woven = new Woven();
    private long sink;

    private Sampled(int perSecond, int seconds) {
        this.perSecond = perSecond;
        this.seconds = seconds;
    }

    private interface Call {
        long run(Functions on, long x);
    }

    public static void main(String[] arguments) throws Exception {
        Sampled sampled = new Sampled(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
        Agent.setPolicy("always", sampled.woven);
        sampled.measure("root, no values", (on, x) -> on.alone(x), 1);
        sampled.measure("root, 3 values", (on, x) -> on.recorded(x, "/user/anna/data"), 1);
        sampled.measure("below a root, no values", (on, x) -> on.outer(x, BELOW), BELOW + 1);
        System.exit(0);
    }

    /** Spans a call yields when it is sampled. */
    private void measure(String name, Call call, int spansOfCall) throws Exception {
        int bursts = (int) ((long) perSecond * seconds / BURST);
        for (int i = 0; i < WARM_UPS; i++) {
            burst(plain, call, bursts / WARM_UPS, spansOfCall);
            burst(woven, call, bursts / WARM_UPS, spansOfCall);
            Agent.drain();
        }
        double[] without = burst(plain, call, bursts, spansOfCall);
        long dropped = Agent.spans("SpansDropped");
        double[] sender = senderClocks();
        double[] with = burst(woven, call, bursts, spansOfCall);
        Agent.drain();
        double[] senderAfter = senderClocks();
        double spans = (double) bursts * BURST;
        System.out.printf(Locale.ROOT, "%s|%.0f|%.0f|%.0f|%.0f|%d%n", name, (with[0] - without[0]) / spans,
                (with[1] - without[1]) / spans, (senderAfter[0] - sender[0]) / spans,
                (senderAfter[1] - sender[1]) / spans, Agent.spans("SpansDropped") - dropped);
        if (sink == 42) {
            System.err.println("unlikely");
        }
    }

    /** Processor time and bytes of this thread for so many bursts, without the pauses between. */
    private double[] burst(Functions on, Call call, int bursts, int spansOfCall) {
        long self = Thread.currentThread().getId();
        long nanos = 0;
        long bytes = 0;
        long next = System.nanoTime();
        for (int i = 0; i < bursts; i++) {
            long cpu = threads.getThreadCpuTime(self);
            long allocated = threads.getThreadAllocatedBytes(self);
            for (int n = 0; n < BURST / spansOfCall; n++) {
                sink += call.run(on, n);
            }
            bytes += threads.getThreadAllocatedBytes(self) - allocated;
            nanos += threads.getThreadCpuTime(self) - cpu;
            next += (long) (1e9 * BURST / perSecond);
            LockSupport.parkNanos(Math.max(0, next - System.nanoTime()));
        }
        double scale = (double) BURST / (BURST / spansOfCall * spansOfCall);
        return new double[] {nanos * scale, bytes * scale};
    }

    /** Of the agent's threads that send. */
    private double[] senderClocks() {
        double[] sum = new double[2];
        long[] ids = threads.getAllThreadIds();
        for (java.lang.management.ThreadInfo info : threads.getThreadInfo(ids)) {
            if (info != null && info.getThreadName().startsWith("plumb-span-sender")) {
                sum[0] += threads.getThreadCpuTime(info.getThreadId());
                sum[1] += threads.getThreadAllocatedBytes(info.getThreadId());
            }
        }
        return sum;
    }
}
