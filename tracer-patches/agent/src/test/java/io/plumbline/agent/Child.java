package io.plumbline.agent;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Runs Java programs beside this one, with the jar that is handed out. */
final class Child {
    static final Path JAR = Path.of(System.getProperty("plumb.agent.jar"));
    private static final int MAX_SECONDS = 60;

    final int code;
    final String out;
    final String err;

    private Child(int code, String out, String err) {
        this.code = code;
        this.out = out;
        this.err = err;
    }

    /** @param folder for its output */
    static Child run(Path folder, List<String> command) throws IOException, InterruptedException {
        Path out = folder.resolve("out.txt");
        Path err = folder.resolve("err.txt");
        Process process = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        try {
            assertTrue(process.waitFor(MAX_SECONDS, TimeUnit.SECONDS), "still running: " + command);
        } finally {
            process.destroyForcibly();
        }
        return new Child(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    static Child java(Path folder, Path home, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(Arrays.asList(arguments));
        return run(folder, command);
    }

    /** The agent's jar as a program. */
    static Child command(Path folder, String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("-jar", JAR.toString()));
        all.addAll(Arrays.asList(arguments));
        return java(folder, own(), all.toArray(new String[0]));
    }

    static Path own() {
        return Path.of(System.getProperty("java.home"));
    }

    /** This Java, and all others of the machine. */
    static List<Path> javaHomes() throws IOException {
        List<Path> homes = new ArrayList<>(List.of(own().toRealPath()));
        Path installed = Path.of("/usr/lib/jvm");
        if (Files.isDirectory(installed)) {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(installed)) {
                for (Path home : all) {
                    Path real = home.toRealPath();
                    if (Files.isExecutable(real.resolve("bin/java")) && !homes.contains(real)) {
                        homes.add(real);
                    }
                }
            }
        }
        return homes;
    }

    /** Compiles one class for Java 8 into the folder. */
    static void compile(Path folder, String name, String... lines) throws IOException {
        Path source = Files.writeString(folder.resolve(name + ".java"), String.join("\n", lines));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertTrue(
                compiler.run(null, null, null, "--release", "8", "-nowarn", "-Xlint:-options", "-d", folder.toString(),
                        source.toString()) == 0);
    }
}
