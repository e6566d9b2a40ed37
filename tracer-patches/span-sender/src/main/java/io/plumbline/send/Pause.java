package io.plumbline.send;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** How the sender's thread waits; tests put in their own. Two kinds, so that new spans do not hasten a retry. */
interface Pause {
    /** For spans: ends early by {@link #wake}, also when that came before. */
    void idle(long ms);

    /** Before a retry: ends early only by {@link #cut}, also when that came before. */
    void rest(long ms);

    /** Any thread; never blocks. */
    void wake();

    /** Any thread; ends one rest. */
    void cut();

    /** The real one. */
    static Pause real() {
        Semaphore woken = new Semaphore(0);
        Semaphore cut = new Semaphore(0);
        return new Pause() {
            @Override
            public void idle(long ms) {
                acquire(woken, ms);
            }

            @Override
            public void rest(long ms) {
                acquire(cut, ms);
            }

            @Override
            public void wake() {
                if (woken.availablePermits() == 0) {
                    woken.release();
                }
            }

            @Override
            public void cut() {
                cut.release();
            }

            private void acquire(Semaphore semaphore, long ms) {
                try {
                    semaphore.tryAcquire(ms, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    // Nobody has business with this thread but close(), which does not interrupt.
                }
            }
        };
    }
}
