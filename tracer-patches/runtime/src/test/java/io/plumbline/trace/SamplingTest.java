package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which roots are sampled, and who has a say. The clock and the dice are the test's. */
class SamplingTest {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 3 * SECOND); // it overflows on the way
    private final Random dice = new Random(42);
    private final Point read = point("DFSInputStream#read");

    private static Point point(String name) {
        return PointBootstrap.point(name, "client", Point.ROOT, "", "");
    }

    private Sampling sampling(String argument) {
        return new Sampling(Settings.strict(argument, Map.of()), clock::get, dice::nextLong);
    }

    private Sampling policy(String policy) {
        Sampling sampling = sampling(null);
        sampling.fromJmx(policy);
        return sampling;
    }

    private int sampled(Sampling sampling, Point point, int calls) {
        int sampled = 0;
        for (int i = 0; i < calls; i++) {
            sampled += sampling.sample(point) ? 1 : 0;
        }
        return sampled;
    }

    @ParameterizedTest
    @CsvSource({
        "always, 1000", "never, 0", "0, 0", "1, 1000", "1.0, 1000", "0.0, 0", "0/s, 0", "every 1, 1000",
        "every 1000, 1",
        "every 10, 100", "7/s, 7", "0.5/s, 1",
    })
    void ofAThousandCallsAtOneTime(String policy, int expected) {
        assertEquals(expected, sampled(policy(policy), read, 1000));
    }

    /** Within four standard deviations, with a fixed seed. */
    @ParameterizedTest
    @ValueSource(doubles = {0.001, 0.01, 0.1, 0.5, 0.9})
    void fractions(double fraction) {
        int calls = 1_000_000;
        double deviation = Math.sqrt(calls * fraction * (1 - fraction));
        assertEquals(calls * fraction, sampled(policy(Double.toString(fraction)), read, calls), 4 * deviation);
    }

    /** Five at once, then one each 200 ms, exactly, however often it is asked. */
    @Test
    void fiveASecond() {
        Sampling sampling = policy("5/s");
        assertEquals(5, sampled(sampling, read, 100));
        for (int ms = 1; ms <= 10_000; ms++) {
            clock.addAndGet(SECOND / 1000);
            assertEquals(ms % 200 == 0 ? 1 : 0, sampled(sampling, read, 3), ms + " ms");
        }
    }

    /** A bucket holds one second's, however long nobody came. */
    @Test
    void restDoesNotPile() {
        Sampling sampling = policy("5/s");
        for (int hour = 0; hour < 10; hour++) {
            assertEquals(5, sampled(sampling, read, 100));
            clock.addAndGet(3600 * SECOND);
        }
    }

    @Test
    void lessThanOneASecond() {
        Sampling sampling = policy("0.1/s");
        int sampled = 0;
        for (int second = 0; second < 100; second++) {
            sampled += sampled(sampling, read, 10);
            clock.addAndGet(SECOND);
        }
        assertEquals(10, sampled);
    }

    @Test
    void everyFunctionHasItsOwnRate() {
        Sampling sampling = policy("2/s");
        assertEquals(2, sampled(sampling, read, 10));
        assertEquals(2, sampled(sampling, point("DFSClient#rename"), 10));
        Point sameName = PointBootstrap.point(read.name, "client", Point.ROOT, "src", "");
        assertEquals(0, sampled(sampling, sameName, 10));
        assertFalse(sampling.sample(new String(read.name)));
    }

    /** Names without end (with numbers in them) share one rate and take no more memory. */
    @Test
    void namesWithoutEnd() {
        Sampling sampling = policy("1/s");
        int sampled = 0;
        for (int i = 0; i < 50_000; i++) {
            sampled += sampling.sample("block_" + i) ? 1 : 0;
        }
        assertEquals(10_001, sampled);
    }

    @Test
    void firstMatchDecides() {
        Sampling sampling =
                policy("Workload#*=always; hflush = never;DFSClient#rename=1/s; DFSClient#*=never ;every 2;");
        assertEquals(10, sampled(sampling, point("Workload#run"), 10));
        assertEquals(0, sampled(sampling, point("hflush"), 10));
        assertEquals(5, sampled(sampling, point("hflush2"), 10));
        assertEquals(1, sampled(sampling, point("DFSClient#rename"), 10));
        assertEquals(0, sampled(sampling, point("DFSClient#rename2"), 10));
        assertFalse(sampling.never());
        Sampling named = policy("Workload#*=always");
        assertEquals(0, sampled(named, read, 10));
        assertFalse(named.never());
        assertTrue(policy("Workload#*=never; 0").never());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
        "sometimes | 'sometimes' is no choice",
        "2 | '2' is no choice",
        "-0.1 | '-0.1' is no choice",
        "NaN | 'NaN' is no choice",
        "0x1p-3 | '0x1p-3' is no choice",
        "0.5f | '0.5f' is no choice",
        "every 0 | 'every 0' is no choice",
        "every 1.5 | 'every 1.5' is no choice",
        "1e9/s | '1e9/s' is no choice",
        "5/m | '5/m' is no choice",
        "a= | '' is no choice",
        "=always | a function's name is needed before '='",
        "a*b=always | with '*' only at its end",
        "always; never | 'never' is never reached",
        "*=0.5; a=never | 'a=never' is never reached",
        "; ; | the policy is empty",
    })
    void policiesThatCannotBeRead(String policy, String message) {
        Sampling sampling = sampling(null);
        Throwable thrown = assertThrows(IllegalArgumentException.class, () -> sampling.fromJmx(policy));
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
        long before = Trouble.count(Trouble.Kind.SETTING);
        sampling.fromReceiver(policy);
        sampling.fromHadoop(policy);
        assertEquals(before + 2, Trouble.count(Trouble.Kind.SETTING));
        assertEquals("default", sampling.source());
    }

    @Test
    void whoHasASay() {
        Sampling sampling = sampling(null);
        List<String> seen = new ArrayList<>();
        Runnable look = () -> seen.add(sampling.text() + " " + sampling.source() + (sampling.unset() ? " unset" : "")
                + (sampling.never() ? " never" : ""));
        look.run();
        sampling.fromHadoop("never");
        look.run();
        sampling.fromHadoop("always"); // another tracer's: the first one's stays
        look.run();
        sampling.fromReceiver("0.5");
        look.run();
        sampling.fromJmx("always");
        look.run();
        sampling.fromReceiver("0.25");
        look.run();
        sampling.fromJmx("");
        look.run();
        sampling.fromReceiver(null);
        look.run();
        assertEquals(List.of("1/s default", "never hadoop unset never", "never hadoop unset never", "0.5 receiver",
                "always jmx", "always jmx", "0.25 receiver", "never hadoop unset never"), seen);
        Sampling set = sampling("sampling=0.125");
        set.fromHadoop("always");
        assertEquals("0.125 settings", set.text() + " " + set.source());
        assertFalse(set.unset());
    }

    @Test
    void receiverMayBeKeptOut() {
        Sampling sampling = sampling("sampling.receiver=off");
        sampling.fromReceiver("always");
        assertEquals("default", sampling.source());
    }

    /** A receiver repeats itself; that must not refill anything. */
    @Test
    void samePolicyAgainChangesNothing() {
        Sampling sampling = sampling(null);
        for (int i = 0; i < 10; i++) {
            sampling.fromReceiver("3/s");
            assertEquals(i == 0 ? 3 : 0, sampled(sampling, read, 5));
        }
    }

    @Test
    void changesReachCachedPoints() {
        Sampling sampling = policy("never");
        assertFalse(sampling.sample(read));
        sampling.fromJmx("always");
        assertTrue(sampling.sample(read));
        sampling.fromJmx("never");
        assertFalse(sampling.sample(read));
    }

    /** Whatever the threads do at the same time: not one more than the rate, and not one less. */
    @Test
    void threadsShareOneRateExactly() throws Exception {
        Sampling sampling = policy("1000/s");
        int threads = 8;
        AtomicLong sampled = new AtomicLong();
        for (int round = 0; round < 50; round++) {
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        start.await();
                        sampled.addAndGet(sampled(sampling, read, 1000));
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
                thread.start();
                running.add(thread);
            }
            start.countDown();
            for (Thread thread : running) {
                thread.join();
            }
            assertEquals(1000L * (round + 1), sampled.get());
            clock.addAndGet(SECOND);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"always", "never", "0.5", "5/s", "every 3", "a=always; DFSInputStream#*=0.1; never"})
    void decidingAllocatesNothing(String policy) {
        Sampling sampling = new Sampling(Settings.strict(null, Map.of()), System::nanoTime,
                () -> ThreadLocalRandom.current().nextLong());
        sampling.fromJmx(policy);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = Long.MAX_VALUE;
        for (int round = 0; round < 20 && bytes > 0; round++) { // the first rounds link and compile
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                sampling.sample(read);
                sampling.sample("hflush");
            }
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertEquals(0, bytes);
    }
}
