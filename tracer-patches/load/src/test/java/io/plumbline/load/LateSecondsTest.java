package io.plumbline.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class LateSecondsTest {
    private static final long MS = 1_000_000;

    /** The second after which a run with these p99 is stopped; 0: none. */
    private static int stoppedAfter(long mostNs, long warmUpNs, IntToLongFunction p99Ns) {
        LateSeconds rule = new LateSeconds(mostNs, warmUpNs);
        for (int second = 1; second <= 60; second++) {
            if (rule.enough(second, p99Ns.applyAsLong(second))) {
                return second;
            }
        }
        return 0;
    }

    @Test
    void tenSecondsInARow() {
        assertEquals(10, stoppedAfter(50 * MS, 0, second -> 51 * MS));
        assertEquals(0, stoppedAfter(50 * MS, 0, second -> 50 * MS));
        assertEquals(0, stoppedAfter(50 * MS, 0, second -> second % 10 == 0 ? 1 : 51 * MS));
        assertEquals(15, stoppedAfter(50 * MS, 0, second -> second <= 5 ? 1 : 51 * MS));
    }

    @Test
    void theWarmUpDoesNotCount() {
        assertEquals(0, stoppedAfter(50 * MS, 20_000 * MS, second -> second <= 29 ? 51 * MS : 1));
        assertEquals(30, stoppedAfter(50 * MS, 20_000 * MS, second -> 51 * MS));
        // The second in which the warm-up ends is partly of it.
        assertEquals(31, stoppedAfter(50 * MS, 20_500 * MS, second -> 51 * MS));
    }

    @Test
    void withoutABound() {
        assertEquals(0, stoppedAfter(0, 0, second -> Long.MAX_VALUE));
    }
}
