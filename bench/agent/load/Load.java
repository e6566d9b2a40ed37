import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A client of HDFS that does what it is told on standard input, a command a line, and answers each with a line "SECONDS
 * UNITS" once it is done; the work is the same for the same command. It knows nothing of tracing but how to set the
 * policy of the agent in its own process.
 *
 * <p>Commands: {@code write THREADS MB BUFFER}, {@code read THREADS MB BUFFER TIMES} (the unit is a MB, of all threads
 * and times together), {@code pread COUNT BYTES}, {@code meta THREADS COUNT} (the unit is an operation), {@code policy
 * TEXT}, {@code drain} (waits until the agent has sent all it has; UNITS is how many spans it ever dropped), {@code
 * end}.
 */
public final class Load {
    private static final int MB = 1 << 20;
    private static final int KINDS = 6;
    private static final int DRAIN_SECONDS = 30;

    private final Configuration conf = new Configuration();
    private final FileSystem fs = FileSystem.get(conf);
    private final Threads threads = new Threads();
    private final Random random = new Random(1);
    private long files;

    private Load() throws IOException {
    }

    public static void main(String[] arguments) throws Exception {
        Load load = new Load();
        load.fs.create(new Path("/written/first")).close(); // the agent comes into JMX with the first traced call
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine()) {
            long begun = System.nanoTime();
            double units = load.run(line.split(" ", 2)[0], line.substring(line.indexOf(' ') + 1));
            System.out.println((System.nanoTime() - begun) / 1e9 + " " + units);
        }
        System.exit(0);
    }

    private double run(String command, String rest) throws Exception {
        String[] words = rest.split(" ");
        switch (command) {
            case "write":
                return write(number(words, 0), number(words, 1), number(words, 2));
            case "read":
                return read(number(words, 0), number(words, 1), number(words, 2), number(words, 3));
            case "pread":
                return pread(number(words, 0), number(words, 1));
            case "meta":
                return meta(number(words, 0), number(words, 1));
            case "policy":
                AgentBean.setPolicy(rest);
                return 0;
            case "drain":
                return AgentBean.dropped(DRAIN_SECONDS);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static int number(String[] words, int place) {
        return Integer.parseInt(words[place]);
    }

    /** Each thread a file of its own, which is gone afterwards; deleting it is part of the work. */
    private double write(int n, int mb, int buffer) throws Exception {
        Path folder = new Path("/written/" + files++);
        threads.run(n, i -> writeFile(new Path(folder, "f" + i), mb / n, buffer));
        fs.delete(folder, true);
        return mb;
    }

    private Void writeFile(Path path, int mb, int buffer) throws IOException {
        byte[] bytes = new byte[buffer];
        new Random(path.hashCode()).nextBytes(bytes);
        try (FSDataOutputStream stream = fs.create(path, true)) {
            for (long left = (long) mb * MB; left > 0; left -= buffer) {
                stream.write(bytes, 0, (int) Math.min(buffer, left));
            }
        }
        return null;
    }

    /** Reads files that stay, made by the first such command. */
    private double read(int n, int mb, int buffer, int times) throws Exception {
        for (int i = 0; i < n; i++) {
            readable(i, mb / n);
        }
        threads.run(n, i -> {
            for (int time = 0; time < times; time++) {
                readFile(file(i, mb / n), mb / n, buffer);
            }
            return null;
        });
        return (double) mb * times;
    }

    private static Path file(int number, int mb) {
        return new Path("/readable/" + mb + "/" + number);
    }

    private Path readable(int number, int mb) throws IOException {
        Path path = file(number, mb);
        if (!fs.exists(path)) {
            writeFile(path, mb, 1 << 16);
        }
        return path;
    }

    private Void readFile(Path path, int mb, int buffer) throws IOException {
        byte[] bytes = new byte[buffer];
        long all = 0;
        try (FSDataInputStream stream = fs.open(path)) {
            for (int n = stream.read(bytes); n >= 0; n = stream.read(bytes)) {
                all += n;
            }
        }
        check(all == (long) mb * MB);
        return null;
    }

    /** Positional reads all over one file, as of a key-value store. */
    private double pread(int count, int length) throws IOException {
        int mb = 64;
        byte[] bytes = new byte[length];
        try (FSDataInputStream stream = fs.open(readable(0, mb))) {
            for (int i = 0; i < count; i++) {
                stream.readFully((long) random.nextInt(mb * MB - length), bytes, 0, length);
            }
        }
        return count;
    }

    /** Operations of the NameNode alone. */
    private double meta(int n, int count) throws Exception {
        Path folder = new Path("/meta/" + files++);
        threads.run(n, i -> metaOf(new Path(folder, "t" + i), count / n / KINDS));
        fs.delete(folder, true);
        return count;
    }

    private Void metaOf(Path folder, int rounds) throws IOException {
        check(fs.mkdirs(folder));
        for (int i = 0; i < rounds; i++) {
            Path made = new Path(folder, "made");
            Path moved = new Path(folder, "moved");
            check(fs.mkdirs(made));
            check(fs.getFileStatus(made).isDirectory());
            check(fs.rename(made, moved));
            check(fs.listStatus(folder).length == 1);
            check(!fs.exists(made));
            check(fs.delete(moved, false));
        }
        return null;
    }

    private static void check(boolean good) throws IOException {
        if (!good) {
            throw new IOException("HDFS answered otherwise than expected");
        }
    }
}
