package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.settings.Switch;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stack that ends within traced functions: the thread's next trace is a new one, and whole. */
class StackEndTest {
    private static final Point OUTER = PointBootstrap.point("StackEnd#outer", "client", Point.ROOT, "", "");
    private static final Point INNER = PointBootstrap.point("StackEnd#descend", "client", 0, "depth", "below");

    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void sampleAll() {
        Sampling.current().fromJmx("always");
        Delivery.other = span -> {
            if (!span.name.equals(INNER.name)) {
                seen.add(span.name + " " + span.parents());
            }
        };
    }

    @AfterEach
    void asBefore() {
        Sampling.current().fromJmx(null);
        Delivery.other = null;
    }

    /** As woven code does it. */
    private static long descend(long depth) {
        Object token = Hooks.begin(INNER);
        if (Hooks.open(token)) {
            Hooks.values(token, INNER, depth, null, null, null);
        }
        long below;
        try {
            below = descend(depth + 1);
        } catch (Throwable e) {
            Hooks.finish(e, token);
            throw e;
        }
        Hooks.finish(null, token);
        return below;
    }

    @Test
    void nothingIsLeftBehind() throws Exception {
        Throwable[] failed = new Throwable[1];
        Thread thread = new Thread(null, () -> {
            for (int round = 0; round < 100; round++) {
                Object root = Hooks.begin(OUTER);
                try {
                    descend(0);
                } catch (StackOverflowError e) {
                    // the application's own
                } finally {
                    Hooks.finish(null, root);
                }
                assertNull(Hooks.capture(), "round " + round);
            }
        }, "deep", 256 << 10);
        thread.setUncaughtExceptionHandler((t, e) -> failed[0] = e);
        thread.start();
        thread.join();
        assertNull(failed[0], () -> failed[0].toString());
        assertTrue(Switch.on());
        assertEquals(100, seen.size());
        assertEquals(List.of("StackEnd#outer 0"), new ArrayList<>(new java.util.TreeSet<>(seen)));
    }
}
