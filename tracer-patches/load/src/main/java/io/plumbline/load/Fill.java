package io.plumbline.load;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
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
    static void make(FileSystem fs, Folder folder, Plan plan, Settings settings, Live live)
            throws IOException, InterruptedException, UsageException {
        List<Integer> missing = folder.missing(plan, false);
        missing.removeIf(number -> !settings.share.takes(number));
        long bytes = missing.stream().mapToLong(plan::fileBytes).sum();
        if (bytes > 0 || plan.writes()) {
            Space.check(fs, folder.root(), bytes, settings);
        }
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

    private static void await(Thread[] makers, AtomicInteger next, int all, Live live) throws InterruptedException {
        for (Thread maker : makers) {
            for (maker.join(TOLD_EVERY_MS); maker.isAlive(); maker.join(TOLD_EVERY_MS)) {
                live.files(Math.min(next.get(), all), all);
            }
        }
        live.clear();
    }
}
