package io.plumbline.agent;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * An application whose functions are traced, in a process of its own: HarmlessTest compares what it prints with and
 * without the agent. Whatever it does to its threads, stack and memory is its own affair.
 */
public final class Job {
    private static final int MANY = 2000;

    private final String name;

    Job(String name) {
        if (name == null) {
            throw new IllegalArgumentException("no name");
        }
        this.name = name;
    }

    public static void main(String[] steps) throws Exception {
        for (String step : steps) {
            System.out.println(step + ": " + run(step));
        }
        String state = System.getProperty("job.state");
        if (state != null) {
            writeState(state);
        }
        System.out.println("leaving");
    }

    private static String run(String step) throws Exception {
        switch (step) {
            case "calls":
                return calls();
            case "throws":
                return thrown();
            case "interrupted":
                return interrupted();
            case "stack":
                return stack();
            case "memory":
                return memory();
            case "threads":
                return threads();
            case "values":
                return values();
            case "constructors":
                return constructors();
            case "hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(new Job("hook").add(1, 2))));
                return "registered";
            default:
                throw new IllegalArgumentException(step);
        }
    }

    private static String calls() {
        Job job = new Job("calls");
        long sum = 0;
        for (int i = 0; i < MANY; i++) {
            sum += job.add(i, 1) + job.outer(i);
        }
        return Long.toString(sum);
    }

    long add(int a, int b) {
        return a + b;
    }

    long outer(int a) {
        return add(a, 1) + add(a, 2);
    }

    /** The very exception comes through, with the stack of the application. */
    private static String thrown() {
        Job job = new Job("throws");
        RuntimeException mine = new IllegalStateException("mine");
        int same = 0;
        for (int i = 0; i < MANY; i++) {
            try {
                job.fail(mine);
            } catch (IllegalStateException e) {
                same += e == mine && e.getSuppressed().length == 0 ? 1 : 0;
            }
        }
        return Integer.toString(same);
    }

    void fail(RuntimeException what) {
        throw what;
    }

    private static String interrupted() throws Exception {
        Job job = new Job("interrupted");
        Thread.currentThread().interrupt();
        job.outer(1);
        boolean still = Thread.interrupted();
        Thread.sleep(1);
        return still + " " + Thread.currentThread().isInterrupted();
    }

    /** Ends its stack again and again within a traced function, and can be called again after that. */
    private static String stack() throws Exception {
        Job job = new Job("stack");
        AtomicLong overflows = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        Thread thread = new Thread(null, () -> {
            for (int i = 0; i < 50; i++) {
                try {
                    job.descend(0);
                } catch (StackOverflowError e) {
                    overflows.incrementAndGet();
                }
                sum.addAndGet(job.add(i, 1));
            }
        }, "deep", 256 << 10);
        thread.start();
        thread.join();
        return overflows + " " + sum;
    }

    long descend(long depth) {
        return descend(depth + 1) + 1;
    }

    private static String memory() {
        Job job = new Job("memory");
        int ended = 0;
        for (int i = 0; i < 5; i++) {
            try {
                job.fill(new ArrayList<>());
            } catch (OutOfMemoryError e) {
                ended++;
            }
        }
        return ended + " " + job.add(1, 2);
    }

    long fill(List<long[]> all) {
        while (true) {
            all.add(new long[1 << 14]);
            add(all.size(), 1);
        }
    }

    /** Some die with a span open. */
    private static String threads() throws Exception {
        AtomicLong died = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            int n = i;
            Thread thread = new Thread(null, () -> {
                Job job = new Job("thread");
                sum.addAndGet(job.outer(n));
                if (n % 10 == 0) {
                    job.fail(new IllegalStateException("of a thread"));
                }
            }, "t" + i, 128 << 10);
            thread.setUncaughtExceptionHandler((t, e) -> died.incrementAndGet());
            thread.start();
            running.add(thread);
            if (running.size() == 100) {
                for (Thread started : running) {
                    started.join();
                }
                running.clear();
            }
        }
        return sum + " " + died;
    }

    /** What is recorded cannot be read. */
    private static String values() {
        Job job = new Job("values");
        int n = 0;
        for (int i = 0; i < MANY; i++) {
            n += job.take(new Mute(), null);
        }
        return Integer.toString(n);
    }

    int take(Mute mute, String[] none) {
        return mute != null && none == null ? 1 : 0;
    }

    private static String constructors() {
        int failed = 0;
        for (int i = 0; i < MANY; i++) {
            try {
                new Job(i % 2 == 0 ? null : "job");
            } catch (IllegalArgumentException e) {
                failed++;
            }
        }
        return Integer.toString(failed);
    }

    @Override
    public String toString() {
        return name;
    }

    /** Fails at whatever is asked of it. */
    static final class Mute {
        String text() {
            throw new StackOverflowError("of a value");
        }

        Object self() {
            throw new IllegalStateException("of a value");
        }

        @Override
        public String toString() {
            throw new OutOfMemoryError("of a value");
        }
    }

    /** The beans of ours, an attribute a line. */
    private static void writeState(String file) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try (PrintStream out = new PrintStream(file, "UTF-8")) {
            for (ObjectName bean : server.queryNames(new ObjectName("io.plumbline:*"), null)) {
                for (var attribute : server.getMBeanInfo(bean).getAttributes()) {
                    out.println(bean.getKeyProperty("type") + "." + attribute.getName() + "="
                            + String.valueOf(server.getAttribute(bean, attribute.getName())).replace('\n', ' '));
                }
            }
        }
    }
}
