package io.plumbline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An application prints the same, says the same and ends as soon with the agent as without it, whatever happens to
 * tracing.
 */
@Tag("jar")
@Timeout(180)
class HarmlessTest {
    private static final String JAR = System.getProperty("plumb.agent.jar");
    private static final String[] STEPS = {"calls", "throws", "interrupted", "stack", "memory", "threads", "values",
        "constructors", "hook"};
    private static final String FUNCTIONS = String.join("\n", "[io.plumbline.agent.Job job]",
            "<init>(String) Job#new  root  name=arg1",
            "add(int, int)  Job#add  root  a=arg1 b=arg2 sum:=return",
            "outer(int)     Job#outer  root  a=arg1 name=this.name",
            "fail(..)       Job#fail  root  what=arg1.getMessage()",
            "descend(long)  Job#descend  root  depth=arg1 below:=return",
            "fill(List)     Job#fill  root  size:=arg1.size()",
            "take(..)       Job#take  root  text=arg1.text() self=arg1.self() mute=arg1 length=arg2.length", "");

    @TempDir
    Path folder;

    private final List<String> options = new ArrayList<>();
    private String classPath = System.getProperty("java.class.path").split(File.pathSeparator)[0];

    private String functions() throws IOException {
        return Files.writeString(folder.resolve("functions.conf"), FUNCTIONS).toString();
    }

    private HarmlessTest attach(String settings) throws IOException {
        options.add("-javaagent:" + JAR + "=functions=" + functions() + ",sampling=always,shutdown.timeout.ms=500,"
                + settings);
        return this;
    }

    private Ended run(String... steps) throws Exception {
        return runMain(Job.class.getName(), steps);
    }

    private Ended runMain(String main, String... steps) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m", "-XX:-UseGCOverheadLimit", "-Djob.state=" + folder.resolve("state"), "-cp",
                        classPath));
        command.addAll(options);
        command.add(main);
        command.addAll(List.of(steps));
        File errors = folder.resolve("errors").toFile();
        Process process = new ProcessBuilder(command).redirectError(errors).start();
        List<String> lines = new ArrayList<>();
        long left = 0;
        try (var out = process.inputReader()) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
                left = line.equals("leaving") ? System.nanoTime() : left;
            }
        }
        int code = process.waitFor();
        return new Ended(code, lines, Files.readString(errors.toPath()), System.nanoTime() - left);
    }

    private String state(String attribute) throws IOException {
        for (String line : Files.readAllLines(folder.resolve("state"))) {
            if (line.startsWith(attribute + "=")) {
                return line.substring(attribute.length() + 1);
            }
        }
        throw new AssertionError(attribute);
    }

    private static List<String> expected() {
        return List.of("calls: 6005000", "throws: 2000", "interrupted: true false", "stack: 50 1275", "memory: 5 3",
                "threads: 4004000 200", "values: 2000", "constructors: 1000", "hook: registered", "leaving", "3");
    }

    @Test
    void withoutTheAgent() throws Exception {
        Ended ended = run(STEPS);
        assertEquals(expected(), ended.lines);
        assertEquals("", ended.errors);
        assertEquals(0, ended.code);
    }

    /** Also shows that the other tests do trace something. */
    @Test
    void nobodyListens() throws Exception {
        Ended ended = attach("receivers=127.0.0.1:1,queue.spans=100").run(STEPS);
        assertEquals(expected(), ended.lines);
        assertEquals(0, ended.code);
        assertTrue(Long.parseLong(state("SpanReceiver.SpansReceived")) > 10_000, () -> ended.errors);
        assertTrue(Long.parseLong(state("Agent.Woven")) > 0);
        assertTrue(ended.msToLeave() < 500 + 2000 + 1500, () -> ended.msToLeave() + " ms");
    }

    /** Peers that accept and then never answer, answer noise, or go away in the middle of an answer. */
    @ParameterizedTest
    @ValueSource(strings = {"silence", "noise", "half"})
    void peer(String kind) throws Exception {
        try (Peer peer = new Peer(kind)) {
            Ended ended =
                    attach("receivers=" + peer.address() + ",io.timeout.ms=300,retry.max.ms=200,queue.bytes=1000000")
                            .run(STEPS);
            assertEquals(expected(), ended.lines);
            assertEquals(0, ended.code);
            assertEquals("0", state("SpanReceiver.SpansAcknowledged"));
            assertTrue(ended.msToLeave() < 500 + 2000 + 1500, () -> ended.msToLeave() + " ms");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "queue.span=5 | unknown key 'queue.span': did you mean 'queue.spans'?",
        "conf=/no/such/file | cannot read /no/such/file",
        "functions=/no/such/file | is set twice",
    })
    void mistakesInSettings(String settings, String said) throws Exception {
        Ended ended = attach(settings).run("calls");
        assertEquals(List.of("calls: 6005000", "leaving"), ended.lines);
        assertEquals(0, ended.code);
        assertTrue(ended.errors.startsWith("plumb-agent: ") && ended.errors.contains(said), ended.errors);
        assertEquals(1, ended.errors.lines().count(), ended.errors);
    }

    @Test
    void switchedOff() throws Exception {
        Ended ended = attach("enabled=off").run(STEPS);
        assertEquals(expected(), ended.lines);
        assertEquals("", ended.errors);
        assertTrue(Files.readString(folder.resolve("state")).isEmpty());
    }

    @Test
    void attachedTwice() throws Exception {
        attach("receivers=127.0.0.1:1,queue.spans=7").attach("receivers=127.0.0.1:1,queue.spans=8");
        Ended ended = run(STEPS);
        assertEquals(expected(), ended.lines);
        assertTrue(state("Agent.Settings").contains("7 (agent argument)"), state("Agent.Settings"));
        assertTrue(ended.errors.contains("plumb-agent: attached twice"), ended.errors);
    }

    /** Classes that have the names of Hadoop's and nothing else of them. */
    @Test
    void unknownHadoop() throws Exception {
        classPath = Compiled.into(folder.resolve("classes"),
                "package org.apache.hadoop.hdfs; public class DFSInputStream { public DFSInputStream(Object a) {} "
                        + "public long read(byte[] b, int o, int n) { return n; } static void openInfo(boolean b) {} "
                        + "public int read(long p, byte[] b, int o, int n) { return n; } }",
                "package org.apache.hadoop.tracing; public class Tracer { public static int curThreadTracer() { return 7; } }",
                "package org.apache.hadoop.tracing; public class TraceUtils { public final int hadoop = 8; }",
                "package org.apache.hadoop.hdfs; public class DataStreamer { private int stage = 9; "
                        + "public int nextBlockOutputStream() { return stage; } }",
                "package org.apache.hadoop.hdfs.server.namenode; public interface FSNamesystem { int delete(String s); }",
                "public class Main { public static void main(String[] a) throws Exception {"
                        + " var in = new org.apache.hadoop.hdfs.DFSInputStream(null);"
                        + " System.out.println(in.read(null, 0, 5) + in.read(0L, null, 0, 6)"
                        + " + org.apache.hadoop.tracing.Tracer.curThreadTracer() + new org.apache.hadoop.tracing.TraceUtils().hadoop"
                        + " + new org.apache.hadoop.hdfs.DataStreamer().nextBlockOutputStream());"
                        + " org.apache.hadoop.hdfs.server.namenode.FSNamesystem f = s -> 1; System.out.println(f.delete(null)); } }");
        Ended ended = attach("receivers=127.0.0.1:1,report=" + folder.resolve("report")).runMain("Main");
        assertEquals(List.of("35", "1"), ended.lines, ended.errors);
        assertEquals(0, ended.code);
    }

    /** How a process ended. */
    private static final class Ended {
        final int code;
        final List<String> lines;
        final String errors;
        private final long leaveNanos;

        Ended(int code, List<String> lines, String errors, long leaveNanos) {
            this.code = code;
            this.lines = lines;
            this.errors = errors;
            this.leaveNanos = leaveNanos;
        }

        long msToLeave() {
            return TimeUnit.NANOSECONDS.toMillis(leaveNanos);
        }
    }

    /** A receiver that is none. */
    private static final class Peer implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> open = new ArrayList<>();
        private final Random random = new Random(3);
        private final String kind;

        Peer(String kind) throws IOException {
            this.kind = kind;
            Thread thread = new Thread(this::serve, "peer");
            thread.setDaemon(true);
            thread.start();
        }

        String address() {
            return "127.0.0.1:" + server.getLocalPort();
        }

        private void serve() {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    open.add(socket);
                    answer(socket);
                } catch (IOException e) {
                    // the peer has gone, or the test is over
                }
            }
        }

        private void answer(Socket socket) throws IOException {
            if (kind.equals("silence")) {
                return;
            }
            byte[] noise = new byte[kind.equals("half") ? 40 : 5000];
            random.nextBytes(noise);
            if (kind.equals("half")) {
                noise[0] = 0;
                noise[1] = 0;
                noise[2] = 0;
                noise[3] = 80;
            }
            OutputStream out = socket.getOutputStream();
            out.write(noise);
            socket.close();
        }

        @Override
        public void close() throws IOException {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        }
    }
}
