import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A real load on HDFS, each operation of the application one trace with a root span such as {@code Workload#write}:
 * with the agent, which is told of the methods here (workload.conf), or with {@link Roots} of HTrace where there is no
 * agent. Every byte read is checked against what was written. Prints one JSON object: what was done, and the counters
 * of our span receiver once all spans are acknowledged or dropped.
 *
 * <p>Options: --rounds N, --threads N, --seconds N (rounds are repeated until they are over), --size BYTES (the large
 * file's), --seed N, --drain-seconds N (how long to wait for the spans at the end), --progress (a line on standard
 * output after each round: for who wants to do something in the middle), --htrace (roots through Hadoop's HTrace).
 */
public final class Workload {
    private static final int SMALL_BYTES = 3000;
    private static final int PREADS = 6;
    private static final int RECORDS = 8;

    private final Options options;
    private final FileSystem fs;
    private final Roots roots;
    private final Tally tally;
    private final PrintStream out;

    private Workload(Options options, Configuration conf, PrintStream out) throws IOException {
        this.options = options;
        this.fs = FileSystem.get(conf);
        this.roots = options.htrace ? Roots.ofHtrace(conf) : Roots.NONE;
        this.tally = new Tally();
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        Workload workload = new Workload(options, new Configuration(), System.out);
        long start = System.nanoTime();
        workload.run();
        String counters = Counters.settled(options.drainSeconds);
        System.out.println(workload.tally.json((System.nanoTime() - start) / 1e9, counters));
        System.out.flush();
        System.exit(0); // span receivers close in their shutdown hook
    }

    private void run() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(options.threads);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < options.threads; i++) {
            int number = i;
            running.add(threads.submit(() -> {
                rounds(number);
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        threads.shutdown();
    }

    private void rounds(int thread) throws Exception {
        Random random = new Random(options.seed * 1000003L + thread);
        long end = System.nanoTime() + options.seconds * 1_000_000_000L;
        for (int round = 0; round < options.rounds || System.nanoTime() < end; round++) {
            round(new Path("/load/" + thread + "/" + round), random);
            if (options.progress) {
                out.println("round " + thread + " " + round);
                out.flush();
            }
        }
    }

    /** Every kind of operation, on files of its own. */
    private void round(Path folder, Random random) throws Exception {
        byte[] large = bytes(random, options.size + random.nextInt(options.size / 4 + 1));
        byte[] small = bytes(random, 1 + random.nextInt(SMALL_BYTES));
        Path file = new Path(folder, "large");
        Path log = new Path(folder, "log");
        Path moved = new Path(folder, "moved");
        traced("mkdirs", () -> mkdirs(new Path(folder, "a/b/c")));
        traced("write", () -> write(file, large));
        traced("write", () -> write(new Path(folder, "small"), small));
        traced("log", () -> log(log, small));
        traced("stat", () -> stat(file, large.length));
        traced("list", () -> list(folder, 4));
        traced("read", () -> read(file, large));
        for (int i = 0; i < PREADS; i++) {
            int position = random.nextInt(large.length);
            int length = 1 + random.nextInt(Math.min(65536, large.length - position));
            traced("pread", () -> pread(file, large, position, length));
        }
        traced("append", () -> append(file, small));
        traced("stat", () -> stat(file, large.length + small.length));
        traced("rename", () -> rename(file, moved));
        traced("missing", () -> missing(file));
        traced("tree", () -> tree(folder, 6));
        traced("delete", () -> delete(moved));
        if (random.nextBoolean()) {
            traced("delete", () -> delete(folder));
        }
    }

    private interface Operation {
        void run() throws Exception;
    }

    private void traced(String name, Operation operation) throws Exception {
        try (Closeable root = roots.open("Workload#" + name)) {
            operation.run();
        }
        tally.count(name);
    }

    private void write(Path path, byte[] content) throws IOException {
        try (FSDataOutputStream stream = fs.create(path, true)) {
            for (int at = 0; at < content.length; at += 65536) {
                stream.write(content, at, Math.min(65536, content.length - at));
            }
        }
        tally.wrote(content.length);
    }

    /** As a log is written: each record is to be seen by readers (hflush), the last one is to be on disk (hsync). */
    private void log(Path path, byte[] record) throws IOException {
        try (FSDataOutputStream stream = fs.create(path, true)) {
            for (int i = 0; i < RECORDS; i++) {
                stream.write(record);
                stream.hflush();
            }
            stream.hsync();
        }
        tally.wrote((long) RECORDS * record.length);
    }

    private void append(Path path, byte[] content) throws IOException {
        try (FSDataOutputStream stream = fs.append(path)) {
            stream.write(content);
        }
        tally.wrote(content.length);
    }

    private void read(Path path, byte[] expected) throws IOException {
        byte[] found = new byte[expected.length];
        try (FSDataInputStream stream = fs.open(path)) {
            stream.readFully(found);
            check(stream.read() == -1);
        }
        same(expected, 0, found, found.length);
        tally.read(found.length);
    }

    private void pread(Path path, byte[] expected, int position, int length) throws IOException {
        byte[] found = new byte[length];
        try (FSDataInputStream stream = fs.open(path)) {
            stream.readFully(position, found, 0, length);
        }
        same(expected, position, found, length);
        tally.read(length);
    }

    private void mkdirs(Path path) throws IOException {
        check(fs.mkdirs(path));
    }

    private void stat(Path path, long length) throws IOException {
        check(fs.getFileStatus(path).getLen() == length);
    }

    private void list(Path path, int entries) throws IOException {
        check(fs.listStatus(path).length == entries);
    }

    private void rename(Path from, Path to) throws IOException {
        check(fs.rename(from, to));
    }

    private void missing(Path path) throws IOException {
        check(!fs.exists(path));
    }

    private void delete(Path path) throws IOException {
        check(fs.delete(path, true));
    }

    private void tree(Path path, int entries) throws IOException {
        check(entriesBelow(path) == entries);
    }

    private int entriesBelow(Path path) throws IOException {
        int entries = 0;
        for (FileStatus status : fs.listStatus(path)) {
            entries += 1 + (status.isDirectory() ? entriesBelow(status.getPath()) : 0);
        }
        return entries;
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void same(byte[] expected, int from, byte[] found, int length) throws IOException {
        for (int i = 0; i < length; i++) {
            if (expected[from + i] != found[i]) {
                throw new IOException("byte " + (from + i) + " differs from what was written");
            }
        }
    }

    private static void check(boolean good) throws IOException {
        if (!good) {
            throw new IOException("HDFS answered otherwise than expected");
        }
    }
}
