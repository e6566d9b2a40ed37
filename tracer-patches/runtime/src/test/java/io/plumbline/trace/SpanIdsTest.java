package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class SpanIdsTest {
    /** As common/model/id_place.h, which finds the place again. */
    private static long place(long id) {
        long z = (id ^ (id >>> 31) ^ (id >>> 62)) * 0x319642b2d24d8ec3L;
        z = (z ^ (z >>> 27) ^ (z >>> 54)) * 0x96de1b173f119089L;
        return (z ^ (z >>> 30) ^ (z >>> 60)) * 0xf1de83e19937733dL;
    }

    @Test
    void placesOfAThreadFollowEachOtherWithinABlock() {
        SpanIds ids = new SpanIds();
        long first = place(ids.next());
        assertEquals(0, Math.floorMod(first, SpanIds.BLOCK));
        for (int i = 1; i < SpanIds.BLOCK; i++) {
            assertEquals(first + i, place(ids.next()));
        }
    }

    @Test
    void eachBlockIsTheNextOfTheProcess() {
        SpanIds one = new SpanIds();
        SpanIds other = new SpanIds();
        long first = place(one.next());
        assertTrue(place(other.next()) - first >= SpanIds.BLOCK);
        long last = 0;
        for (int i = 0; i < SpanIds.BLOCK; i++) {
            last = place(one.next());
        }
        assertTrue(last - first >= 2 * SpanIds.BLOCK);
        assertTrue(last - first < 100 * SpanIds.BLOCK); // other tests' threads take blocks, too
    }

    @Test
    void noTwoThreadsDrawTheSame() throws InterruptedException {
        int threads = 8;
        int each = 100_000;
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                SpanIds ids = new SpanIds();
                Set<Long> own = new HashSet<>();
                for (int k = 0; k < each; k++) {
                    own.add(ids.next());
                }
                seen.addAll(own);
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        assertEquals(threads * each, seen.size());
        assertTrue(!seen.contains(0L));
    }
}
