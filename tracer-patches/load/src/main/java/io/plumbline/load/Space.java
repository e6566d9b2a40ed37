package io.plumbline.load;

import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.Path;

/**
 * The rule of --min-free: others need HDFS, too. What is to be made before the load is checked beforehand; while it
 * runs HDFS is asked once a second, in a thread of its own, since it may not answer.
 */
final class Space implements Runnable {
    private static final int EVERY_MS = 1000;

    private final FileSystem fs;
    private final Path root;
    private final Settings settings;
    private final Run run;

    /** @param run is stopped when there is too little */
    Space(FileSystem fs, Path root, Settings settings, Run run) {
        this.fs = fs;
        this.root = root;
        this.settings = settings;
        this.run = run;
    }

    /** Bytes that have to stay free. */
    static long leastFree(Settings settings, FsStatus status) {
        return Math.max(settings.minFreeBytes, (long) (status.getCapacity() / 100.0 * settings.minFreePercent));
    }

    /** Have such files, with all their copies, room beside what has to stay free? */
    static void check(FileSystem fs, Path root, long bytes, Settings settings) throws IOException, UsageException {
        FsStatus status = fs.getStatus(root);
        long free = status.getRemaining();
        long least = leastFree(settings, status);
        int copies = fs.getDefaultReplication(root);
        if (free < least) {
            throw new UsageException(String.format(Locale.ROOT,
                    "HDFS has %.1f GB left, less than the %.1f GB that --min-free leaves to others", free / 1e9,
                    least / 1e9));
        }
        if (bytes > (free - least) / copies) {
            throw new UsageException(String.format(Locale.ROOT,
                    "the files of the plan are %.1f GB, and with %d copies more than the %.1f GB that are free (of which"
                            + " %.1f GB are left to others, by --min-free): draw it with smaller --files or --max-file,"
                            + " or have fewer copies: --conf dfs.replication=1",
                    bytes / 1e9, copies, free / 1e9, least / 1e9));
        }
    }

    @Override
    public void run() {
        try {
            while (!run.stopped()) {
                Thread.sleep(EVERY_MS);
                look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            FsStatus status = fs.getStatus(root);
            long least = leastFree(settings, status);
            if (status.getRemaining() < least && run.stop(StopReason.SPACE)) {
                Main.say(String.format(Locale.ROOT, "HDFS has %.2f GB left; --min-free leaves %.2f GB to others",
                        status.getRemaining() / 1e9, least / 1e9));
            }
        } catch (IOException | RuntimeException e) {
            // Not known now. When HDFS is gone, operations fail, and the rule about these counts.
        }
    }
}
