package io.plumbline.load;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.URI;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/** What `plumb load` starts: "run" executes a plan, "clean" removes what loads made. */
public final class Main {
    private static final int USAGE = 2;
    /** The process is ending already. */
    private static final int INTERRUPTED = 130;
    private static final long SHORT_DRAIN_NS = 2_000_000_000L;
    private static final int ENDING_SECONDS = 60;

    private Main() {
    }

    static void say(String what) {
        System.err.println("plumb load: " + what);
    }

    /** See plumb. */
    public static void main(String[] arguments) {
        int code = 1;
        try {
            Settings settings = Settings.of(arguments);
            code = arguments[0].equals("clean") ? clean(settings) : run(settings);
        } catch (UsageException e) {
            say(e.getMessage());
            code = USAGE;
        } catch (IOException | RuntimeException e) {
            say(Remedy.text(e));
        } catch (InterruptedException e) {
            say("interrupted");
        } catch (OutOfMemoryError e) {
            say("out of memory: give the JVM more, with --java-option=-Xmx8g");
        }
        System.err.flush();
        leave(code);
    }

    /**
     * Ends the process: threads of a client may hang in a call that never returns, and what is done at the end may hang
     * as well.
     */
    private static void leave(int code) {
        Thread halt = new Thread(() -> {
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(ENDING_SECONDS));
            Runtime.getRuntime().halt(code);
        });
        halt.setDaemon(true);
        halt.start();
        if (code != INTERRUPTED) {
            System.exit(code); // the agent sends what it has
        }
    }

    private static Configuration configuration(Settings settings) {
        Configuration conf = new Configuration();
        for (String pair : settings.conf) {
            int equals = pair.indexOf('=');
            conf.set(pair.substring(0, equals), pair.substring(equals + 1));
        }
        // Of clients that come and go: none is to be given to another.
        conf.setBoolean("fs.hdfs.impl.disable.cache", true);
        return conf;
    }

    private static Path root(Configuration conf, Settings settings) {
        Path folder = new Path(settings.folder);
        URI home = FileSystem.getDefaultUri(conf);
        return folder.toUri().getScheme() == null ? folder.makeQualified(home, new Path("/")) : folder;
    }

    /** Standard output, which from now on has nothing else in it: what Hadoop prints there goes to standard error. */
    private static PrintStream documents() throws IOException {
        PrintStream documents = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        System.setOut(System.err);
        return documents;
    }

    private static int clean(Settings settings) throws IOException, UsageException {
        Configuration conf = configuration(settings);
        Path root = root(conf, settings);
        FileSystem fs = FileSystem.get(root.toUri(), conf);
        if (!fs.exists(root)) {
            say("there is no " + root + ": nothing is removed");
            return 0;
        }
        Folder folder = new Folder(fs, root);
        List<Path> foreign = folder.clean();
        for (Path path : foreign) {
            say("not made by a load, and left: " + path);
        }
        say((foreign.isEmpty() ? "removed " + root + ", " : "of " + root + " removed ") + folder.removed()
                + " files and folders");
        return foreign.isEmpty() ? 0 : 1;
    }

    private static int run(Settings settings) throws IOException, InterruptedException, UsageException {
        Configuration conf = configuration(settings);
        Path root = root(conf, settings);
        Run.Parts parts = new Run.Parts();
        parts.live = new Live(settings, documents());
        parts.plan = Plan.read(settings.plan);
        FileSystem fs = FileSystem.get(root.toUri(), conf);
        if ("file".equals(root.toUri().getScheme())) {
            say("this is a load on this host's own disk, " + root + ", not on HDFS. If HDFS is meant, its configuration"
                    + " is not in the class path: 'hadoop classpath' names it first");
        }
        parts.folder = new Folder(fs, root);
        parts.share = settings.share;
        if (settings.share.of > parts.plan.clients()) {
            throw new UsageException("--share " + settings.share + ": the plan has " + parts.plan.clients()
                    + " clients, and each is on one host: draw it with more --clients");
        }
        Meeting meeting = new Meeting(fs, root, settings.share, parts.plan.hash(), settings.waitNs);
        if (settings.share.leads()) {
            parts.folder.claim();
            meeting.prepare();
            parts.folder.missing(parts.plan, true);
        }
        try {
            return meet(meeting, parts, fs, conf, settings);
        } finally {
            meeting.close();
        }
    }

    private static int meet(Meeting meeting, Run.Parts parts, FileSystem fs, Configuration conf, Settings settings)
            throws IOException, InterruptedException, UsageException {
        meeting.open();
        long startNs = Meeting.ANEW;
        while (startNs == Meeting.ANEW) {
            try {
                Fill.make(fs, parts.folder, parts.plan, settings, parts.live);
            } catch (IOException e) {
                if (meeting.begunAnew(Remedy.text(e))) {
                    continue;
                }
                throw e;
            }
            if (parts.clients == null) {
                parts.clients = new Clients(conf, parts.folder.root().toUri(), parts.plan.clients(), settings.share,
                        settings.newClients);
            }
            startNs = meeting.arrive();
        }
        parts.threadsMost = settings.threads;
        parts.maxBytes = settings.maxBytes;
        parts.result = new ResultFile(settings.result, head(parts, meeting, settings));

        parts.hdrLog = settings.hdrLog == null ? null : new HdrLog(settings.hdrLog);

        Run run = new Run(parts);
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupt(run, ended)));
        try {
            load(run, parts, fs, startNs, settings);
        } finally {
            end(meeting, ended);
        }
        StopReason why = run.reason();
        if (why == StopReason.DONE) {
            return 0;
        }
        say("stopped: " + why.text);
        return why == StopReason.INTERRUPTED ? INTERRUPTED : 1;
    }

    /** After countDown() the process may be gone at once, when it was told to end. */
    private static void end(Meeting meeting, CountDownLatch ended) throws IOException {
        try {
            meeting.close();
        } finally {
            ended.countDown();
        }
    }

    /** Of a load that writes. */
    private static void watchSpace(Run run, Run.Parts parts, FileSystem fs, Settings settings) {
        if (parts.plan.writes() && (settings.minFreePercent > 0 || settings.minFreeBytes > 0)) {
            Thread space = new Thread(new Space(fs, parts.folder.root(), settings, run), "space");
            space.setDaemon(true);
            space.start();
        }
    }

    private static void load(Run run, Run.Parts parts, FileSystem fs, long startNs, Settings settings)
            throws IOException, InterruptedException {
        Watch watch = new Watch(run, parts, settings);
        run.start(settings.share.alone() ? System.nanoTime() : startNs);
        if (parts.hdrLog != null) {
            parts.hdrLog.begin();
        }
        watch.start();
        watchSpace(run, parts, fs, settings);
        if (settings.closed > 0) {
            run.dispatchClosed(settings.closed);
        } else {
            run.dispatch();
        }
        try {
            run.finish(run.stopped() ? SHORT_DRAIN_NS : settings.drainNs);
            parts.result.close();
        } finally {
            watch.end();
            parts.live.close();
        }
        if (parts.hdrLog != null) {
            parts.hdrLog.close();
        }
    }

    /** SIGINT or SIGTERM: the results are to be whole before the process is gone. */
    private static void interrupt(Run run, CountDownLatch ended) {
        run.stop(StopReason.INTERRUPTED);
        try {
            ended.await(ENDING_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Map<String, String> head(Run.Parts parts, Meeting meeting, Settings settings) {
        Plan plan = parts.plan;
        Map<String, String> head = new LinkedHashMap<>();
        Instant now = Instant.now();
        head.put("started", now.toString());
        head.put("host", host());
        head.put("folder", parts.folder.root().toString());
        head.put("hadoop", VersionInfo.getVersion());
        head.put("java", System.getProperty("java.version"));
        head.put("traced", Traces.there() ? "yes" : "no");
        head.put("new-client", settings.newClients ? "yes" : "no");
        if (settings.closed > 0) {
            head.put("closed", Integer.toString(settings.closed));
        }
        head.put("threads", Integer.toString(settings.threads));
        if (!settings.share.alone()) {
            head.put("share", settings.share.toString());
            head.put("meeting", meeting.run());
            head.put("clock-behind-ns", Long.toString(meeting.clock().behindNs()));
            head.put("clock-uncertain-ns", Long.toString(meeting.clock().uncertainNs()));
        }
        head.put("operations", Integer.toString(plan.operations(settings.share, Long.MAX_VALUE)));
        head.put("warm-up-operations", Integer.toString(plan.operations(settings.share, plan.warmUp())));
        head.put("plan-hash", plan.hash());
        for (Map.Entry<String, String> line : plan.head.entrySet()) {
            head.put("plan-" + line.getKey(), line.getValue());
        }
        return head;
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
