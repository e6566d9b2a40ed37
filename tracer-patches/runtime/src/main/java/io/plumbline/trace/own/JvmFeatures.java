package io.plumbline.trace.own;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.util.List;

/**
 * The state of the JVM and of the current thread, as operation logs have it. What holds for the whole process is looked
 * up at most every {@link #FRESH_NANOS}: operations of a task begin and end together. Deadlocks, for which all threads
 * are stopped, are looked for once in {@link #DEADLOCK_NANOS}. Any thread.
 */
public final class JvmFeatures {
    /** In the order of the values. */
    public static final String NAMES = "LoadedClassCount,ObjectPendingFinalizationCount,HeapUsed,HeapCommitted,"
            + "HeapOccupationRate,NonHeapUsed,NonHeapCommitted,NonHeapOccupationRate,ThreadNum,DeadLockedNum,"
            + "CurrentThreadCPUTime,CurrentThreadUserTime,UserCPURate,DaemonThreadCount,CompilationTime,GCCount,GCTime,"
            + "BufferPoolCount,BufferMemory";
    private static final long FRESH_NANOS = 2_000_000;
    private static final long DEADLOCK_NANOS = 60_000_000_000L;
    private static final boolean ON = on();

    private static final ClassLoadingMXBean CLASSES = ManagementFactory.getClassLoadingMXBean();
    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();
    private static final List<BufferPoolMXBean> POOLS = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);

    private static volatile JvmFeatures last;
    private static volatile int deadlocked;
    private static volatile long deadlocksAt = System.nanoTime() - DEADLOCK_NANOS;

    private final long takenAt;
    /** What comes before the values of the thread, and after them. */
    private final String before;
    private final String after;

    private JvmFeatures(long now) {
        takenAt = now;
        before = process();
        after = "," + THREADS.getDaemonThreadCount() + ',' + (COMPILER == null ? 0 : COMPILER.getTotalCompilationTime())
                + collectors() + pools();
    }

    private static boolean on() {
        try {
            return Settings.current().on("spark.jvm");
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
            return false;
        }
    }

    /** The values of {@link #NAMES}, joined with commas; null when they are not wanted, or cannot be had. */
    static String text() {
        try {
            return ON ? always() : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
            return null;
        }
    }

    /** As text(), whatever the settings say. */
    public static String always() {
        long now = System.nanoTime();
        JvmFeatures features = last;
        if (features == null || now - features.takenAt > FRESH_NANOS) {
            features = new JvmFeatures(now);
            last = features;
        }
        return features.before + thread() + features.after;
    }

    private static String process() {
        MemoryUsage heap = MEMORY.getHeapMemoryUsage();
        MemoryUsage rest = MEMORY.getNonHeapMemoryUsage();
        return CLASSES.getLoadedClassCount() + "," + MEMORY.getObjectPendingFinalizationCount() + ',' + memory(heap)
                + ','
                + memory(rest) + ',' + THREADS.getThreadCount() + ',' + deadlocked() + ',';
    }

    private static String memory(MemoryUsage usage) {
        return usage.getUsed() + "," + usage.getCommitted() + ',' + rate(usage.getUsed(), usage.getCommitted());
    }

    private static int deadlocked() {
        long now = System.nanoTime();
        if (now - deadlocksAt >= DEADLOCK_NANOS) {
            deadlocksAt = now;
            long[] found = THREADS.findDeadlockedThreads();
            deadlocked = found == null ? 0 : found.length;
        }
        return deadlocked;
    }

    private static String thread() {
        long cpu = THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : -1;
        long user = cpu < 0 ? -1 : THREADS.getCurrentThreadUserTime();
        return cpu + "," + user + ',' + rate(Math.max(0, user), cpu);
    }

    private static String collectors() {
        long count = 0;
        long millis = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            count += Math.max(0, collector.getCollectionCount());
            millis += Math.max(0, collector.getCollectionTime());
        }
        return "," + count + ',' + millis;
    }

    private static String pools() {
        long count = 0;
        long bytes = 0;
        for (BufferPoolMXBean pool : POOLS) {
            count += Math.max(0, pool.getCount());
            bytes += Math.max(0, pool.getMemoryUsed());
        }
        return "," + count + ',' + bytes;
    }

    /** With four digits, as numbers are written everywhere, whatever the country. */
    private static String rate(long part, long whole) {
        if (whole <= 0) {
            return "0";
        }
        long tenThousandths = Math.min(10_000, Math.round(1e4 * part / whole));
        String digits = Long.toString(10_000 + tenThousandths % 10_000).substring(1);
        return tenThousandths == 10_000 ? "1" : "0." + digits;
    }
}
