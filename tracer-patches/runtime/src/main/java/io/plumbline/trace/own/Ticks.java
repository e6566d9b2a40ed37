package io.plumbline.trace.own;

import io.plumbline.trace.report.Trouble;
import java.util.concurrent.locks.LockSupport;

/**
 * A coarse clock for what happens too often to read a fine one each time: a number that changes every millisecond while
 * tasks of Spark are traced. Records pass through operations millions of times a second, and System.nanoTime() costs 20
 * to 80 ns, a look at this 1 ns. Whoever sees that it has changed reads the fine clock, so:
 * <ul>
 * <li>times add up exactly: each nanosecond between two readings is charged once;
 * <li>up to {@link #BURST} passages after each tick are timed one by one: an operation that is called less often
 *     than that is measured exactly, at the cost of some tenths of a percent;
 * <li>of a millisecond with more passages, the rest goes to the operation that runs when it ends. A call that takes
 *     longer ends with its own time charged to it; short ones get their share as by sampling: with an error of 1.6 % of
 *     the task's time after one second, 0.5 % after ten.
 * </ul>
 */
final class Ticks {
    /** No tick has this number for long. */
    static final int NEVER = Integer.MIN_VALUE;
    static final int BURST = 10;
    private static final long PERIOD_NANOS = 1_000_000;
    private static final long IDLE_MS = 10_000;

    static volatile int now;

    private static final Object LOCK = new Object();
    private static int active;
    private static boolean running;

    private Ticks() {
    }

    /** A task begins. What threads saw before is out of date. */
    static void begin() {
        synchronized (LOCK) {
            now++;
            active++;
            if (!running) {
                Thread ticker = new Thread(Ticks::run, "plumb-ticks");
                ticker.setDaemon(true);
                ticker.start();
                running = true;
            }
            LOCK.notifyAll();
        }
    }

    static void end() {
        synchronized (LOCK) {
            active--;
        }
    }

    private static void run() {
        while (awaitTask()) {
            LockSupport.parkNanos(PERIOD_NANOS);
            now++; // a tick lost to begin() is one that begin() made
        }
    }

    /** FALSE when there was none for long: the thread ends. */
    private static boolean awaitTask() {
        synchronized (LOCK) {
            if (active == 0) {
                try {
                    LOCK.wait(IDLE_MS);
                } catch (InterruptedException e) {
                    // Nobody does; and the flag is cleared, so that it can wait again.
                    Trouble.count(Trouble.Kind.ENGINE, e);
                }
            }
            running = active > 0;
            return running;
        }
    }
}
