package io.plumbline.load;

import java.io.IOException;

/** Once a second: what is told live, the rules of stopping, and what results there are goes to the file. */
final class Watch implements Runnable {
    private static final long SECOND_NS = 1_000_000_000L;
    /** With fewer operations in ten seconds, nothing can be said of a part of them. */
    private static final int JUDGED_OPERATIONS = 20;

    private final Run run;
    private final ResultFile result;
    private final HdrLog hdrLog;
    private final Settings settings;
    private final Live live;
    private final LateSeconds lateSeconds;
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

    @Override
    public void run() {
        int n = 1;
        try {
            for (;; n++) {
                Thread.sleep(Math.max(1, (n * SECOND_NS - run.now()) / 1_000_000));
                Progress.Second second = next();
                result.flush();
                if (hdrLog != null) {
                    hdrLog.write();
                }
                judge(n, second);
                live.second(n, second, run.plan());
            }
        } catch (InterruptedException e) {
            live.end(n, next(), run.plan(), run.reason());
        } catch (IOException e) {
            Main.say("the result could not be written: " + e.getMessage());
            run.stop(StopReason.RESULT);
        }
    }

    /** What the second that ends now was. */
    private Progress.Second next() {
        Progress.Second second = run.progress().next();
        long nowNs = run.now();
        second.lengthNs = nowNs - lastNs;
        second.lagNs = Math.max(second.lagNs, run.queuedNs());
        second.inFlight = run.inFlight();
        second.allDue = run.dueUntil(nowNs);
        second.due = Math.max(0, second.allDue - lastDue);
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
