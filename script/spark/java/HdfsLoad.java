import java.net.URI;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A client of HDFS that goes on until its input ends: HdfsLoad HDFS-URL NAME KIND THREADS REPLICATION PAUSE-MS. KIND:
 * write (new files), append, hflush, hsync, read (files that it makes first), pread (the same, each in one call), small
 * (files of a few bytes). Says "ready" after the first operation of each thread, and at the end how many there were.
 */
public final class HdfsLoad {
    private static final int FILE_BYTES = 4 << 20;
    private static final int PIECE_BYTES = 64 << 10;
    private static final int PIECES = 16;
    private static final int FILES_READ = 24;
    private static final AtomicLong DONE = new AtomicLong();
    private static volatile boolean over;

    private final FileSystem fs;
    private final Path folder;
    private final String kind;
    private final short replication;
    private final byte[] data = new byte[FILE_BYTES];
    private final Random random;

    private HdfsLoad(FileSystem fs, Path folder, String kind, short replication) {
        this.fs = fs;
        this.folder = folder;
        this.kind = kind;
        this.replication = replication;
        random = new Random(folder.hashCode());
        random.nextBytes(data);
    }

    public static void main(String[] args) throws Exception {
        URI uri = URI.create(args[0]);
        int threads = Integer.parseInt(args[3]);
        short replication = Short.parseShort(args[4]);
        long pause = Long.parseLong(args[5]);
        Configuration conf = new Configuration();
        conf.set("dfs.replication", args[4]);
        HdfsLoad[] loads = new HdfsLoad[threads];
        for (int i = 0; i < threads; i++) {
            loads[i] = new HdfsLoad(FileSystem.newInstance(uri, conf), new Path("/" + args[1] + "/" + i), args[2],
                    replication);
            loads[i].prepare();
            loads[i].once(0);
        }
        System.out.println("ready");
        Thread[] running = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            HdfsLoad load = loads[i];
            running[i] = new Thread(() -> load.goOn(pause), "load-" + i);
            running[i].start();
        }
        while (System.in.read() >= 0) {
            // until it ends
        }
        over = true;
        for (Thread thread : running) {
            thread.join(5_000);
        }
        System.out.println(DONE.get());
        System.exit(0);
    }

    private void prepare() throws Exception {
        if (kind.equals("read") || kind.equals("pread")) {
            for (int i = 0; i < FILES_READ; i++) {
                write(new Path(folder, "input-" + i), FILE_BYTES / 4);
            }
        }
    }

    private void goOn(long pause) {
        for (long n = 1; !over; n++) {
            try {
                once(n);
                DONE.incrementAndGet();
                Thread.sleep(pause);
            } catch (Exception e) {
                System.err.println("failed: " + e);
            }
        }
    }

    private void once(long n) throws Exception {
        Path file = new Path(folder, kind + "-" + n % 2);
        switch (kind) {
            case "write":
                write(file, FILE_BYTES);
                break;
            case "small":
                write(file, 100);
                break;
            case "read":
                read(new Path(folder, "input-" + random.nextInt(FILES_READ)));
                break;
            case "pread":
                pread(new Path(folder, "input-" + random.nextInt(FILES_READ)));
                break;
            case "append":
                append(file, n);
                break;
            default:
                pieces(file);
        }
    }

    private void write(Path file, int bytes) throws Exception {
        try (FSDataOutputStream out = fs.create(file, true, 4096, replication, fs.getDefaultBlockSize(file))) {
            out.write(data, 0, bytes);
        }
    }

    /** A file grows by a piece at a time, and begins anew when it is large. */
    private void append(Path file, long n) throws Exception {
        if (n % PIECES < 2 || !fs.exists(file)) {
            write(file, PIECE_BYTES);
            return;
        }
        try (FSDataOutputStream out = fs.append(file)) {
            out.write(data, 0, PIECE_BYTES);
        }
    }

    private void pieces(Path file) throws Exception {
        try (FSDataOutputStream out = fs.create(file, true, 4096, replication, fs.getDefaultBlockSize(file))) {
            for (int i = 0; i < PIECES; i++) {
                out.write(data, i * PIECE_BYTES, PIECE_BYTES);
                if (kind.equals("hsync")) {
                    out.hsync();
                } else {
                    out.hflush();
                }
            }
        }
    }

    private void read(Path file) throws Exception {
        try (FSDataInputStream in = fs.open(file)) {
            while (in.read(data) >= 0) {
                // the next piece
            }
        }
    }

    private void pread(Path file) throws Exception {
        try (FSDataInputStream in = fs.open(file)) {
            in.readFully(0, data, 0, FILE_BYTES / 4);
        }
    }
}
