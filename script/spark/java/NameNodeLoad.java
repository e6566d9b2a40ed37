import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Keeps a NameNode busy: NameNodeLoad HDFS-URL THREADS DIRECTORIES. Makes a tree of so many directories, says "ready",
 * and on each line of its input lets all threads ask for the tree's content summary until the next line; "on" and "off"
 * by turns.
 */
public final class NameNodeLoad {
    private static final Path TREE = new Path("/namenode-load");
    private static volatile boolean on;

    private NameNodeLoad() {
    }

    public static void main(String[] args) throws Exception {
        URI uri = URI.create(args[0]);
        int threads = Integer.parseInt(args[1]);
        makeTree(uri, Integer.parseInt(args[2]));
        AtomicLong asked = new AtomicLong();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> ask(uri, asked), "load-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            if (System.in.read(new byte[256]) < 0) {
                break;
            }
            on = !on;
            System.out.println((on ? "on " : "off ") + asked.get());
        }
        System.exit(0);
    }

    private static void makeTree(URI uri, int directories) throws Exception {
        int makers = 8;
        CountDownLatch left = new CountDownLatch(makers);
        AtomicLong next = new AtomicLong();
        for (int i = 0; i < makers; i++) {
            new Thread(() -> {
                try (FileSystem fs = FileSystem.newInstance(uri, new Configuration())) {
                    for (long n = next.getAndIncrement(); n < directories; n = next.getAndIncrement()) {
                        fs.mkdirs(new Path(TREE, n / 500 + "/" + n));
                    }
                    left.countDown();
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            }).start();
        }
        left.await();
    }

    private static void ask(URI uri, AtomicLong asked) {
        try (FileSystem fs = FileSystem.newInstance(uri, new Configuration())) {
            while (true) {
                if (on) {
                    fs.getContentSummary(TREE);
                    asked.incrementAndGet();
                } else {
                    Thread.sleep(20);
                }
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
