import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Every operation of HDFS once, in one thread and always the same, on any Hadoop from 2.10 on: for a comparison of call
 * trees. It knows nothing of tracing; the agent makes its methods the roots (tour.conf). Prints a line for each
 * operation, "name: result", the same on every cluster, and then the counters of our sender as JSON.
 *
 * <p>Arguments: address of the NameNode's HTTP server (for webhdfs), a folder that does not exist, seconds to wait for
 * the spans at the end, and the names of operations to be left out.
 */
public final class Tour {
    private static final int BLOCK = 262144;
    private static final int CELL = 1024 * 1024;
    private static final int WAIT_SECONDS = 60;
    private static final long POLL_MS = 50;

    private final DistributedFileSystem fs;
    private final FileSystem web;
    private final Path folder;

    private Tour(Configuration conf, String http, Path folder) throws IOException {
        this.folder = folder;
        fs = (DistributedFileSystem) FileSystem.get(conf);
        web = FileSystem.newInstance(URI.create("webhdfs://" + http), conf);
    }

    /** From then on every client of this process hedges: the threads for it are HDFS's own, one pool for all. */
    private static FileSystem hedging(FileSystem fs) throws IOException {
        Configuration impatient = new Configuration(fs.getConf());
        impatient.setInt("dfs.client.hedged.read.threadpool.size", 2);
        impatient.setInt("dfs.client.hedged.read.threshold.millis", 1);
        FileSystem hedged = FileSystem.newInstance(fs.getUri(), impatient);
        hedged.getServerDefaults(new Path("/")); // else whichever attempt is first asks for them
        return hedged;
    }

    private interface Operation {
        Object run() throws Exception;
    }

    private static final class Wish {
        final TreeSet<String> leftOut;

        Wish(String[] names) {
            leftOut = new TreeSet<>(Arrays.asList(names));
        }

        void run(String name, Operation operation) throws Exception {
            if (!leftOut.contains(name)) {
                System.out.println(name + ": " + operation.run());
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Tour tour = new Tour(new Configuration(), arguments[0], new Path(arguments[1]));
        Wish wish = new Wish(Arrays.copyOfRange(arguments, 3, arguments.length));
        tour.files(wish);
        tour.replicas(wish);
        tour.otherWays(wish);
        System.out.println(Counters.settled(Integer.parseInt(arguments[2])));
        System.out.flush();
        System.exit(0);
    }

    /** What an application does with files and folders. */
    private void files(Wish wish) throws Exception {
        byte[] large = bytes(1, 2 * BLOCK + 100_000);
        byte[] small = bytes(2, 3000);
        Path file = new Path(folder, "file");
        Path log = new Path(folder, "log");
        wish.run("mkdirs", () -> mkdirs(new Path(folder, "a/b")));
        wish.run("write", () -> write(file, large));
        wish.run("hflush", () -> hflush(log, small));
        wish.run("hsync", () -> hsync(new Path(folder, "ledger"), small));
        wish.run("append", () -> append(log, small));
        wish.run("read", () -> read(file, large.length));
        wish.run("pread", () -> pread(file, BLOCK - 5000, 10_000));
        wish.run("readBuffer", () -> readBuffer(file, large.length));
        wish.run("status", () -> status(file));
        wish.run("missing", () -> missing(new Path(folder, "nothing")));
        wish.run("list", () -> list(folder));
        wish.run("blockLocations", () -> blockLocations(file));
        wish.run("checksum", () -> checksum(file));
        wish.run("rename", () -> rename(log, new Path(folder, "moved")));
        wish.run("truncate", () -> truncate(new Path(folder, "moved"), 1000));
        await(() -> fs.isFileClosed(new Path(folder, "moved")));
        wish.run("delete", () -> delete(new Path(folder, "moved")));
        Path first = new Path(folder, "parts/first");
        Path second = new Path(folder, "parts/second");
        writeTo(fs, first, bytes(7, BLOCK));
        writeTo(fs, second, bytes(8, BLOCK));
        wish.run("concat", () -> concat(first, second));
        wish.run("contentSummary", () -> contentSummary(folder));
    }

    /** What makes DataNodes talk to each other. */
    private void replicas(Wish wish) throws Exception {
        Path single = new Path(folder, "single");
        Path open = new Path(folder, "open");
        try (FSDataOutputStream stream = fs.create(single, (short) 1)) {
            stream.write(bytes(3, 100_000));
        }
        wish.run("setReplication", () -> setReplication(single, 2));
        await(() -> fs.getFileBlockLocations(single, 0, 1)[0].getHosts().length == 2);
        FSDataOutputStream abandoned = fs.create(open);
        abandoned.write(bytes(4, 5000));
        abandoned.hflush();
        FileSystem another = FileSystem.newInstance(fs.getUri(), fs.getConf(), "other");
        DistributedFileSystem other = (DistributedFileSystem) another;
        wish.run("recoverLease", () -> recoverLease(other, open));
        await(() -> other.isFileClosed(open));
    }

    private void otherWays(Wish wish) throws Exception {
        Path file = new Path(folder, "file");
        Path striped = new Path(folder, "striped");
        Path uploaded = new Path(folder, "uploaded");
        byte[] small = bytes(5, 50_000);
        byte[] cells = bytes(6, 2 * CELL + 10_000);
        wish.run("webWrite", () -> webWrite(uploaded, small));
        wish.run("webRead", () -> webRead(uploaded, small.length));
        if (!wish.leftOut.contains("writeStriped")) {
            prepareStriped(striped);
        }
        wish.run("writeStriped", () -> writeStriped(new Path(striped, "file"), cells));
        wish.run("readStriped", () -> readStriped(new Path(striped, "file"), cells.length));
        wish.run("preadStriped", () -> preadStriped(new Path(striped, "file"), CELL - 5000, 10_000));
        if (!wish.leftOut.contains("readLost")) {
            removeOneReplica(new Path(striped, "file"));
        }
        wish.run("readLost", () -> readLost(new Path(striped, "file"), cells.length));
        FileSystem hedged = hedging(fs);
        wish.run("hedgedRead", () -> hedgedRead(hedged, file, 1000, 20_000));
    }

    // ---- the roots ----

    private boolean mkdirs(Path path) throws IOException {
        return fs.mkdirs(path);
    }

    private int write(Path path, byte[] content) throws IOException {
        return writeTo(fs, path, content);
    }

    private int hflush(Path path, byte[] record) throws IOException {
        try (FSDataOutputStream stream = fs.create(path)) {
            stream.write(record);
            stream.hflush();
            stream.write(record);
            return stream.size();
        }
    }

    private int hsync(Path path, byte[] record) throws IOException {
        try (FSDataOutputStream stream = fs.create(path)) {
            stream.write(record);
            stream.hsync();
            return stream.size();
        }
    }

    private long append(Path path, byte[] content) throws IOException {
        try (FSDataOutputStream stream = fs.append(path)) {
            stream.write(content);
            return stream.getPos();
        }
    }

    private String read(Path path, int length) throws IOException {
        return readFrom(fs, path, length);
    }

    private String pread(Path path, long position, int length) throws IOException {
        return preadFrom(fs, path, position, length);
    }

    private String readBuffer(Path path, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(length);
        try (FSDataInputStream stream = fs.open(path)) {
            while (buffer.hasRemaining() && stream.read(buffer) >= 0) {
                continue;
            }
        }
        byte[] found = new byte[buffer.position()];
        buffer.flip();
        buffer.get(found);
        return sum(found, found.length);
    }

    private long status(Path path) throws IOException {
        return fs.getFileStatus(path).getLen();
    }

    private String missing(Path path) throws IOException {
        try {
            return fs.open(path).toString();
        } catch (FileNotFoundException e) {
            return "not found";
        }
    }

    private String list(Path path) throws IOException {
        StringBuilder names = new StringBuilder();
        for (FileStatus status : fs.listStatus(path)) {
            names.append(status.getPath().getName()).append(' ');
        }
        return names.toString();
    }

    private int blockLocations(Path path) throws IOException {
        BlockLocation[] blocks = fs.getFileBlockLocations(path, 0, Long.MAX_VALUE);
        return blocks.length;
    }

    private String checksum(Path path) throws IOException {
        return fs.getFileChecksum(path).toString();
    }

    private boolean rename(Path from, Path to) throws IOException {
        return fs.rename(from, to);
    }

    private boolean truncate(Path path, long length) throws IOException {
        return fs.truncate(path, length);
    }

    private boolean delete(Path path) throws IOException {
        return fs.delete(path, true);
    }

    private long concat(Path target, Path source) throws IOException {
        fs.concat(target, new Path[] {source});
        return fs.getFileStatus(target).getLen();
    }

    private String contentSummary(Path path) throws IOException {
        ContentSummary summary = fs.getContentSummary(path);
        return summary.getFileCount() + " files " + summary.getLength() + " bytes";
    }

    private boolean setReplication(Path path, int replicas) throws IOException {
        return fs.setReplication(path, (short) replicas);
    }

    /** Not true at once: a DataNode has to recover the block first. */
    private boolean recoverLease(DistributedFileSystem other, Path path) throws IOException {
        return other.recoverLease(path);
    }

    private String hedgedRead(FileSystem hedged, Path path, long position, int length) throws IOException {
        return preadFrom(hedged, path, position, length);
    }

    private int webWrite(Path path, byte[] content) throws IOException {
        return writeTo(web, path, content);
    }

    private String webRead(Path path, int length) throws IOException {
        return readFrom(web, path, length);
    }

    private int writeStriped(Path path, byte[] content) throws IOException {
        try (FSDataOutputStream stream = fs.create(path, true, 4096, (short) 1, CELL)) {
            stream.write(content);
            return stream.size();
        }
    }

    private String readStriped(Path path, int length) throws IOException {
        return readFrom(fs, path, length);
    }

    private String preadStriped(Path path, long position, int length) throws IOException {
        return preadFrom(fs, path, position, length);
    }

    /** What is missing has to be computed from the rest of its stripe. */
    private String readLost(Path path, int length) throws IOException {
        return readFrom(fs, path, length);
    }

    // ---- what they are made of ----

    private static int writeTo(FileSystem fs, Path path, byte[] content) throws IOException {
        try (FSDataOutputStream stream = fs.create(path, true)) {
            for (int at = 0; at < content.length; at += 65536) {
                stream.write(content, at, Math.min(65536, content.length - at));
            }
            return stream.size();
        }
    }

    private static String readFrom(FileSystem fs, Path path, int length) throws IOException {
        byte[] found = new byte[length];
        try (FSDataInputStream stream = fs.open(path)) {
            stream.readFully(found);
            return sum(found, length) + " " + stream.read();
        }
    }

    private static String preadFrom(FileSystem fs, Path path, long position, int length) throws IOException {
        byte[] found = new byte[length];
        try (FSDataInputStream stream = fs.open(path)) {
            stream.readFully(position, found, 0, length);
        }
        return sum(found, length);
    }

    /** By name: Hadoop 2 has neither method. */
    private void prepareStriped(Path path) throws Exception {
        String policy = "XOR-2-1-1024k";
        fs.mkdirs(path);
        fs.getClass().getMethod("enableErasureCodingPolicy", String.class).invoke(fs, policy);
        fs.getClass().getMethod("setErasureCodingPolicy", Path.class, String.class).invoke(fs, path, policy);
    }

    /** As when a disk fails: the first block of the first group disappears from the DataNode that has it. */
    private void removeOneReplica(Path path) throws IOException {
        long id = fs.getClient().getLocatedBlocks(path.toUri().getPath(), 0).get(0).getBlock().getBlockId();
        List<java.nio.file.Path> replicas;
        try (Stream<java.nio.file.Path> files = Files.walk(Paths.get(System.getProperty("user.dir")))) {
            replicas = files.filter(file -> file.getFileName().toString().equals("blk_" + id))
                    .collect(Collectors.toList());
        }
        for (java.nio.file.Path replica : replicas) {
            Files.delete(replica);
        }
        if (replicas.isEmpty()) {
            throw new FileNotFoundException("no replica of block " + id + " below the working folder");
        }
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new TimeoutException("HDFS did not get there");
            }
            Thread.sleep(POLL_MS);
        }
    }

    private static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static String sum(byte[] bytes, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, length);
        return length + " bytes " + Long.toHexString(crc.getValue());
    }
}
