package io.plumbline.load;

/** The rule of --max-p99: ten seconds in a row, after the warm-up, had a p99 above the bound. One thread. */
final class LateSeconds {
    private static final int ENOUGH = 10;
    private static final long SECOND_NS = 1_000_000_000L;

    private final long mostNs;
    private final long warmUpNs;
    /** How many, up to this one. */
    private int late;

    /** @param mostNs 0: no such rule */
    LateSeconds(long mostNs, long warmUpNs) {
        this.mostNs = mostNs;
        this.warmUpNs = warmUpNs;
    }

    /**
     * After each second of a run.
     *
     * @param second from 1 on; it has just ended
     * @return the run is to be stopped
     */
    boolean enough(int second, long p99Ns) {
        boolean counts = mostNs > 0 && (second - 1) * SECOND_NS >= warmUpNs;
        late = counts && p99Ns > mostNs ? late + 1 : 0;
        return late >= ENOUGH;
    }
}
