package io.plumbline.trace.own;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.IdPlace;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class SpanIdsTest {
    @Test
    void placesOfAThreadFollowEachOtherWithinABlock() {
        SpanIds ids = new SpanIds();
        long first = IdPlace.placeOf(ids.next());
        assertEquals(0, Math.floorMod(first, SpanIds.BLOCK));
        for (int i = 1; i < SpanIds.BLOCK; i++) {
            assertEquals(first + i, IdPlace.placeOf(ids.next()));
        }
    }

    @Test
    void eachBlockIsTheNextOfTheProcess() {
        SpanIds one = new SpanIds();
        SpanIds other = new SpanIds();
        long first = IdPlace.placeOf(one.next());
        assertTrue(IdPlace.placeOf(other.next()) - first >= SpanIds.BLOCK);
        long last = 0;
        for (int i = 0; i < SpanIds.BLOCK; i++) {
            last = IdPlace.placeOf(one.next());
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
