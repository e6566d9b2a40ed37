package io.plumbline.load;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * How the hosts that share a plan begin at the same time. They meet in a folder of HDFS, so they need no ports and no
 * common clock: the time is the NameNode's, to which each host measures the difference of its own.
 *
 * <pre>
 *   r/begin      the first host: which plan, how many hosts, and a number that is new in each run
 *   r/ready-2    a host has made its files and waits; with the number of the run
 *   r/start      the first host: all are there; when it begins, in the NameNode's time
 *   r/clock-2    is written to measure the clock
 * </pre>
 *
 * A run that was killed may leave them there, and its begin looks like that of this run. So the first host takes begin
 * and start away before it tidies the folder, and calls with a new number. A host that believed the old begin looks at
 * its files again once it sees another number: they may be gone.
 */
final class Meeting {
    static final String FOLDER = "r";
    /** No time: the first host began anew. */
    static final long ANEW = Long.MIN_VALUE;
    private static final long POLL_MS = 100;
    private static final long UNTIL_START_NS = 3_000_000_000L;
    private static final long MS = 1_000_000;
    private static final int MOST_BYTES = 4096;

    private final FileSystem fs;
    private final Path folder;
    private final Share share;
    private final String planHash;
    private final long untilNs;
    private Clock clock;
    private String run = "";
    private boolean closed;

    Meeting(FileSystem fs, Path root, Share share, String planHash, long waitNs) {
        this.fs = fs;
        this.share = share;
        this.planHash = planHash;
        folder = new Path(root, FOLDER);
        untilNs = System.nanoTime() + waitNs;
    }

    /** Of this run, the same on all hosts; known once arrive() has said when it begins. */
    String run() {
        return run;
    }

    /** Once open() has ended. */
    Clock clock() {
        return clock;
    }

    /** The first host, before it tidies the folder: what a run that was killed left there calls nobody any more. */
    void prepare() throws IOException {
        if (!share.alone()) {
            fs.delete(new Path(folder, "begin"), false);
            fs.delete(new Path(folder, "start"), false);
        }
    }

    /** The first host calls the others, once the folder is tidy; these wait to be called. */
    void open() throws IOException, InterruptedException, UsageException {
        if (share.alone()) {
            return;
        }
        if (share.leads()) {
            run = Long.toHexString(new Random().nextLong() | Long.MIN_VALUE);
            clock = measureClock();
            write("begin", call());
            return;
        }
        while (!called()) {
            await(notCalled());
        }
        clock = measureClock(); // only now: the folder is a load's
    }

    private String notCalled() throws IOException {
        return "the host with --share 1/" + share.of + " has not called: it runs the same plan, in the same --folder"
                + refused();
    }

    /**
     * This host could not make its files. Did the first host take them away, because they were made for the call of an
     * older run? Where there is no call, it is tidying: then waits for it.
     *
     * @param why they could not be made
     */
    boolean begunAnew(String why) throws IOException, InterruptedException, UsageException {
        if (share.leads()) {
            return false;
        }
        String before = run;
        while (!called()) {
            await("files could not be made (" + why + "), and " + notCalled());
        }
        return !run.equals(before);
    }

    private Clock measureClock() throws IOException {
        return Clock.measure(fs, new Path(folder, "clock-" + share.number));
    }

    private String call() {
        return run + " " + planHash + " " + share.of;
    }

    /** Has the first host called for our plan? Then it is its run that counts. */
    private boolean called() throws IOException {
        String[] words = read("begin").split(" ");
        if (words.length != 3 || !words[1].equals(planHash) || !words[2].equals(Integer.toString(share.of))) {
            return false;
        }
        run = words[0];
        return true;
    }

    /** Why not, where there is a call. */
    private String refused() throws IOException {
        String[] words = read("begin").split(" ");
        if (words.length != 3) {
            return "";
        }
        return words[1].equals(planHash)
                ? " (it says that there are " + words[2] + " hosts)"
                : " (it has another plan)";
    }

    /**
     * This host is ready. Waits for the others.
     *
     * @return when the load begins, by System.nanoTime(); ANEW: the files have to be looked at again
     */
    long arrive() throws IOException, InterruptedException, UsageException {
        if (share.alone()) {
            return System.nanoTime();
        }
        return share.leads() ? lead() : follow();
    }

    private long lead() throws IOException, InterruptedException, UsageException {
        for (int other = 2; other <= share.of; other++) {
            while (!read("ready-" + other).equals(run)) {
                await("the host with --share " + other + "/" + share.of + " is not ready");
            }
        }
        long start = System.nanoTime() + UNTIL_START_NS;
        write("start", run + " " + clock.ofNameNode(start));
        return start;
    }

    private long follow() throws IOException, InterruptedException, UsageException {
        String ready = run;
        write("ready-" + share.number, ready);
        for (;;) {
            String[] words = read("start").split(" ");
            if (words.length == 2 && words[0].equals(ready)) {
                long start = clock.ofThisHost(Long.parseLong(words[1]));
                if (start > System.nanoTime()) {
                    return start;
                }
            }
            if (called() && !run.equals(ready)) {
                return ANEW;
            }
            await("the host with --share 1/" + share.of + " has not said when to begin: another host may be missing");
        }
    }

    private void await(String otherwise) throws InterruptedException, UsageException {
        if (System.nanoTime() > untilNs) {
            throw new UsageException(otherwise + ": given up, after --wait");
        }
        Thread.sleep(POLL_MS);
    }

    /** The first host takes the meeting's folder away. */
    void close() throws IOException {
        if (!share.alone() && share.leads() && !closed) {
            closed = true;
            fs.delete(folder, true);
        }
    }

    /** Whole, or not at all. */
    private void write(String name, String text) throws IOException {
        Path path = new Path(folder, name);
        Path part = new Path(folder, name + ".new");
        try (OutputStream out = fs.create(part, true)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        fs.delete(path, false);
        if (!fs.rename(part, path)) {
            throw new IOException(path + " could not be made");
        }
    }

    /** "" when it is not there. */
    private String read(String name) throws IOException {
        byte[] bytes = new byte[MOST_BYTES];
        int n = 0;
        try (InputStream in = fs.open(new Path(folder, name))) {
            for (int more = in.read(bytes); more > 0; more = in.read(bytes, n, bytes.length - n)) {
                n += more;
            }
        } catch (FileNotFoundException e) {
            return "";
        }
        return new String(bytes, 0, n, StandardCharsets.UTF_8);
    }

    /** The NameNode's clock against System.nanoTime() of this host. */
    static final class Clock {
        private static final int PROBES = 10;
        private final long offsetNs;
        private final long uncertainNs;

        private Clock(long offsetNs, long uncertainNs) {
            this.offsetNs = offsetNs;
            this.uncertainNs = uncertainNs;
        }

        /**
         * The NameNode gives a file that is closed its time, in whole milliseconds: so the difference lies between two
         * bounds, and in all such intervals at once.
         */
        static Clock measure(FileSystem fs, Path path) throws IOException {
            long least = Long.MIN_VALUE;
            long most = Long.MAX_VALUE;
            for (int i = 0; i < PROBES; i++) {
                OutputStream out = fs.create(path, true);
                long before = System.nanoTime();
                out.close();
                long after = System.nanoTime();
                long timeNs = fs.getFileStatus(path).getModificationTime() * MS;
                if (Math.max(least, timeNs - after) <= Math.min(most, timeNs + MS - before)) {
                    least = Math.max(least, timeNs - after);
                    most = Math.min(most, timeNs + MS - before);
                } // else a clock was set meanwhile
            }
            fs.delete(path, false);
            return new Clock(least + (most - least) / 2, (most - least) / 2);
        }

        long ofNameNode(long nanoTime) {
            return nanoTime + offsetNs;
        }

        long ofThisHost(long nameNodeNs) {
            return nameNodeNs - offsetNs;
        }

        /** How far it may be from the truth. */
        long uncertainNs() {
            return uncertainNs;
        }

        /** By how much the wall clock of this host is behind the NameNode's. */
        long behindNs() {
            return ofNameNode(System.nanoTime()) - System.currentTimeMillis() * MS;
        }
    }
}
