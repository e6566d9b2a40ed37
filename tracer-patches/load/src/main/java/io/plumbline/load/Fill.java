package io.plumbline.load;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.FileSystem;

/** Makes the files that are there before the load, several at a time. */
final class Fill {
    private static final int THREADS = 8;
    private static final int TOLD_EVERY_MS = 500;

    private Fill() {
    }

    /** Those of this host's share. */
    static void make(FileSystem fs, Folder folder, Plan plan, Share share, Live live)
            throws IOException, InterruptedException, UsageException {
        List<Integer> missing = folder.missing(plan, false);
        missing.removeIf(number -> !share.takes(number));
        checkSpace(fs, folder, plan, missing);
        AtomicInteger next = new AtomicInteger();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        Thread[] makers = new Thread[Math.min(THREADS, missing.size())];
        for (int i = 0; i < makers.length; i++) {
            makers[i] = new Thread(() -> {
                for (int at = next.getAndIncrement(); at < missing.size()
                        && failed.get() == null; at = next.getAndIncrement()) {
                    int number = missing.get(at);
                    try (OutputStream out = fs.create(folder.file(number), true)) {
                        Operations.fill(out, plan.fileBytes(number));
                    } catch (IOException | RuntimeException | Error e) {
                        failed.compareAndSet(null, e);
                    }
                }
            });
            makers[i].setDaemon(true);
            makers[i].start();
        }
        await(makers, next, missing.size(), live);
        Throwable why = failed.get();
        if (why != null) {
            throw why instanceof IOException ? (IOException) why
                    : new IOException("files could not be made: " + why, why);
        }
    }

    /** Before HDFS is full: others need it, too. */
    private static void checkSpace(FileSystem fs, Folder folder, Plan plan, List<Integer> missing)
            throws IOException, UsageException {
        long bytes = missing.stream().mapToLong(plan::fileBytes).sum();
        int copies = fs.getDefaultReplication(folder.root());
        long free = fs.getStatus(folder.root()).getRemaining();
        if (bytes > free / copies) {
            throw new UsageException(String.format(Locale.ROOT,
                    "the files of the plan are %.1f GB, and with %d copies more than the %.1f GB that are free: draw it"
                            + " with smaller --files or --max-file, or have fewer copies: --conf dfs.replication=1",
                    bytes / 1e9, copies, free / 1e9));
        }
    }

    private static void await(Thread[] makers, AtomicInteger next, int all, Live live) throws InterruptedException {
        for (Thread maker : makers) {
            for (maker.join(TOLD_EVERY_MS); maker.isAlive(); maker.join(TOLD_EVERY_MS)) {
                live.files(Math.min(next.get(), all), all);
            }
        }
        live.clear();
    }
}
