package io.plumbline.load;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Once a second: what is told live, the rules of stopping, and what results there are goes to the file. */
final class Watch implements Runnable {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long LONGEST_END_NS = 10 * SECOND_NS;
    /** With fewer operations in ten seconds, nothing can be said of a part of them. */
    private static final int JUDGED_OPERATIONS = 20;

    private final Run run;
    private final ResultFile result;
    private final HdrLog hdrLog;
    private final Settings settings;
    private final Live live;
    private final LateSeconds lateSeconds;
    private final Thread thread = new Thread(this, "watch");
    private volatile boolean over;
    private long lastNs;
    private int lastDue;

    Watch(Run run, Run.Parts parts, Settings settings) {
        this.run = run;
        this.settings = settings;
        result = parts.result;
        hdrLog = parts.hdrLog;
        live = parts.live;
        lateSeconds = new LateSeconds(settings.maxP99Ns, run.plan().warmUp());
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    /** The run is over. Never interrupted: that would close the file that is written just then. */
    void end() throws InterruptedException {
        over = true;
        LockSupport.unpark(thread);
        TimeUnit.NANOSECONDS.timedJoin(thread, LONGEST_END_NS);
    }

    @Override
    public void run() {
        int n = 1;
        for (; await(n); n++) {
            Progress.Second second = next();
            write();
            judge(n, second);
            live.second(n, second, run.plan());
        }
        live.end(n, next(), run.plan(), run.reason());
    }

    /** @return the second has passed; false: the run is over */
    private boolean await(int n) {
        for (long left = n * SECOND_NS - run.now(); left > 0 && !over; left = n * SECOND_NS - run.now()) {
            LockSupport.parkNanos(this, left);
        }
        return !over;
    }

    private void write() {
        try {
            result.flush();
            if (hdrLog != null) {
                hdrLog.write();
            }
        } catch (IOException e) {
            run.notWritten(e);
        }
    }

    /** What the second that ends now was. */
    private Progress.Second next() {
        Progress.Second second = run.progress().next();
        long nowNs = run.now();
        second.lengthNs = nowNs - lastNs;
        second.lagNs = Math.max(second.lagNs, run.queuedNs());
        second.inFlight = run.inFlight();
        // When it stops, what is due is what was begun: perhaps less than what the plan had in mind.
        second.allDue = Math.max(lastDue, run.dueUntil(nowNs));
        second.due = second.allDue - lastDue;
        lastNs = nowNs;
        lastDue = second.allDue;
        return second;
    }

    private void judge(int n, Progress.Second second) {
        if (second.lateDone >= JUDGED_OPERATIONS
                && second.lateFailed * 100.0 > settings.maxErrorsPercent * second.lateDone) {
            run.stop(StopReason.ERRORS);
        }
        if (second.lagNs > settings.maxLagNs) {
            run.stop(StopReason.LAG);
        }
        if (lateSeconds.enough(n, second.p99Ns)) {
            run.stop(StopReason.LATENCY);
        }
    }
}
