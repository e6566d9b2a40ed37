package io.plumbline.load;

import java.io.IOException;
import java.util.Locale;

/** Once a second: the live line, the rules of stopping, and what results there are goes to the file. */
final class Watch implements Runnable {
    private static final int LINE_EVERY_SECONDS = 10;
    private static final long SECOND_NS = 1_000_000_000L;
    /** With fewer operations in ten seconds, nothing can be said of a part of them. */
    private static final int JUDGED_OPERATIONS = 20;

    private final Run run;
    private final ResultFile result;
    private final HdrLog hdrLog;
    private final Settings settings;
    private final LateSeconds lateSeconds;

    /** @param hdrLog may be null */
    Watch(Run run, ResultFile result, HdrLog hdrLog, Settings settings) {
        this.run = run;
        this.result = result;
        this.hdrLog = hdrLog;
        this.settings = settings;
        lateSeconds = new LateSeconds(settings.maxP99Ns, run.plan().warmUp());
    }

    @Override
    public void run() {
        try {
            for (int n = 1;; n++) {
                Thread.sleep(Math.max(1, (n * SECOND_NS - run.now()) / 1_000_000));
                Progress.Second second = run.progress().next();
                second.lagNs = Math.max(second.lagNs, run.queuedNs());
                result.flush();
                if (hdrLog != null) {
                    hdrLog.write();
                }
                judge(n, second);
                show(n, second);
            }
        } catch (InterruptedException e) {
            if (settings.live.equals("terminal")) {
                System.err.print("\r\033[K");
            }
        } catch (IOException e) {
            Main.say("the result could not be written: " + e.getMessage());
            run.stop(StopReason.RESULT);
        }
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

    private void show(int n, Progress.Second second) {
        boolean line = settings.live.equals("lines") && n % LINE_EVERY_SECONDS == 0;
        if (!line && !settings.live.equals("terminal")) {
            return;
        }
        long all = (run.plan().warmUp() + run.plan().headNumber("duration-ns")) / SECOND_NS;
        String phase = n * SECOND_NS <= run.plan().warmUp() ? " warm-up" : "";
        String text = String.format(Locale.ROOT, "%d of %d s%s  %d/s  p50 %s  p99 %s  %d in flight  %d errors  lag %s",
                n,
                all, phase, second.done, time(second.medianNs), time(second.p99Ns), run.inFlight(), second.allFailed,
                time(second.lagNs));
        if (line) {
            System.err.println(text);
        } else {
            System.err.print("\r" + text + "\033[K");
        }
        System.err.flush();
    }

    static String time(long ns) {
        if (ns >= 10 * SECOND_NS) {
            return String.format(Locale.ROOT, "%d s", ns / SECOND_NS);
        }
        if (ns >= SECOND_NS) {
            return String.format(Locale.ROOT, "%.1f s", ns / 1e9);
        }
        return String.format(Locale.ROOT, ns >= 10_000_000 ? "%.0f ms" : "%.1f ms", ns / 1e6);
    }
}
