package io.plumbline.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The agent attached to programs, on every Java that is there. */
@Tag("jar")
@Timeout(300)
class AgentTest {
    private static final String[] APP = {
        "public class App {",
        "  static int work(String text, int n) { if (n > 2) throw new IllegalStateException(text); return text.length() + n; }",
        "  public static void main(String[] args) {",
        "    int sum = 0;",
        "    for (int i = 0; i < 5; i++) try { sum += work(\"abc\", i); } catch (IllegalStateException e) { sum += 100; }",
        "    int added = 0;",
        "    for (java.lang.reflect.Method m : App.class.getDeclaredMethods()) added += m.getName().startsWith(\"plumb$\") ? 1 : 0;",
        "    System.out.println(sum + \" \" + (added > 0));",
        "  }",
        "}"};

    @TempDir
    Path folder;
    private Path list;
    private Path report;

    @BeforeEach
    void compile() throws IOException {
        Child.compile(folder, "App", APP);
        list = Files.writeString(folder.resolve("site.conf"),
                "[App client]\nwork(String, ..) App#work root text=arg1 n=arg2.x r:=return\n");
        report = folder.resolve("new/report.txt");
    }

    private Child attached(Path home, String settings) throws Exception {
        return Child.java(folder, home, "-Xverify:all", "-javaagent:" + Child.JAR + "=" + settings, "-cp",
                folder.toString(), "App");
    }

    static List<Path> javaHomes() throws IOException {
        return Child.javaHomes();
    }

    @ParameterizedTest
    @MethodSource("javaHomes")
    void weavesAndReports(Path home) throws Exception {
        Child app = attached(home, "functions=" + list + ",report=" + report + ",sampling=always");
        assertEquals("0 212 true\n", app.code + " " + app.out, app.err);
        // Nobody takes its spans, which is said once.
        List<String> said = app.err.lines()
                .filter(line -> !line.contains("warning: ") && !line.startsWith("WARNING: ")).toList();
        assertEquals(1, said.size(), app.err);
        assertTrue(said.get(0).startsWith("plumb: spans of this process were lost: "), app.err);
        String text = Files.readString(report);
        assertTrue(text.contains("classes woven: 1\n"), text);
        assertTrue(text.contains("  App#work  App work(String, ..)  (" + list + ":2)  work(String, int)\n"
                + "    value not available: n=arg2.x in work(String, int): int has no .x\n"), text);
        assertTrue(text.contains("\nclass not loaded: "), text);
    }

    @Test
    void doesNothingWhenItIsOff() throws Exception {
        Child app = attached(Child.own(), "enabled=off,functions=" + list + ",report=" + report);
        assertEquals("212 false\n", app.out);
        assertTrue(Files.notExists(report));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "receivrs=a:1 | receivrs", "functions=/none/there | functions = /none/there: cannot be read",
        "enabled=perhaps | enabled",
        "conf=/none/there | /none/there"})
    void goesOnUntracedAfterAMistake(String settings, String said) throws Exception {
        Child app = attached(Child.own(), settings);
        assertEquals("0 212 false\n", app.code + " " + app.out);
        List<String> lines = app.err.lines().filter(line -> !line.contains("warning: ")).toList();
        assertEquals(1, lines.size(), app.err);
        assertTrue(lines.get(0).startsWith("plumb-agent: ") && lines.get(0).contains(said)
                && lines.get(0).endsWith(" (this process is not traced)"), app.err);
    }

    @Test
    void mistakesInTheSitesListAreNamed() throws Exception {
        Files.writeString(list, "[App client]\nwork(String, ..) App#work rot\n");
        Child app = attached(Child.own(), "functions=" + list);
        assertEquals("212 false\n", app.out);
        assertTrue(app.err.contains("plumb-agent: " + list + ":2: \"rot\": allowed are"), app.err);

        Files.writeString(list, "[App client]\nwork(String) App#work\nmain(..) App#main\n");
        app = attached(Child.own(), "functions=" + list);
        assertEquals("0 212", app.code + " " + app.out.split(" ")[0]);
        assertTrue(
                app.err.contains(
                        "plumb-agent: " + list + ":2: no such method: App work(String): there is work(String, int)\n"),
                app.err);
    }

    private Path appJar(String name) throws IOException, InterruptedException {
        Path lib = Files.createDirectories(folder.resolve(name));
        Path jar = lib.resolve("app.jar");
        Child made = Child.run(folder, List.of(Child.own().resolve("bin/jar").toString(), "cf", jar.toString(), "-C",
                folder.toString(), "App.class"));
        assertEquals(0, made.code, made.err);
        Files.writeString(lib.resolve("readme.txt"), "as it was");
        return lib;
    }

    @Test
    void wovenJarsNeedNoAgentAndAreNotWovenAgain() throws Exception {
        Path lib = appJar("lib");
        Path out = folder.resolve("woven");
        Child weave = Child.command(folder, "weave", "--in", lib.toString(), "--out", out.toString(), "--functions",
                list.toString());
        assertEquals(0, weave.code, weave.err);
        assertTrue(weave.out.startsWith("1 of 1 jars woven, 1 classes, 1 functions: "), weave.out);
        assertEquals("as it was", Files.readString(out.resolve("readme.txt")));

        Child app = Child.java(folder, Child.own(), "-Xverify:all", "-cp", out + "/*", "App");
        assertEquals("0 212 true\n", app.code + " " + app.out, app.err);

        Child both = Child.java(folder, Child.own(), "-Xverify:all", "-javaagent:" + Child.JAR + "=functions=" + list
                + ",report=" + folder.resolve("%{pid}.report"), "-cp", out + "/*", "App");
        assertEquals("0 212 true\n", both.code + " " + both.out, both.err);
        File[] reports = folder.toFile().listFiles((in, name) -> name.matches("[0-9]+\\.report"));
        assertEquals(1, reports.length);
        String text = Files.readString(reports[0].toPath());
        assertTrue(text.startsWith("classes woven: 0\n") && text.contains("\nwoven ahead of time: 1\n  App#work"),
                text);
    }

    @Test
    void weavingAgainGivesTheSameAndReplacesOnlyItsOwn() throws Exception {
        Path lib = appJar("lib");
        Path out = folder.resolve("woven");
        String[] command = {"weave", "--in", lib.toString(), "--out", out.toString(), "--functions", list.toString()};
        assertEquals(0, Child.command(folder, command).code);
        byte[] first = Files.readAllBytes(out.resolve("app.jar"));
        assertEquals(0, Child.command(folder, command).code);
        assertArrayEquals(first, Files.readAllBytes(out.resolve("app.jar")));
        try (JarFile jar = new JarFile(out.resolve("app.jar").toFile())) {
            assertEquals("0.1.0", jar.getManifest().getMainAttributes().getValue("Plumb-Woven"));
        }

        Child over = Child.command(folder, "weave", "--in", lib.toString(), "--out", lib.toString());
        assertEquals("1 plumb-agent: --out is the same as --in: " + lib + "; the jars are copied, never changed\n",
                over.code + " " + over.err);
        Path other = Files.createDirectories(folder.resolve("other"));
        Files.writeString(other.resolve("mine"), "");
        Child foreign = Child.command(folder, "weave", "--in", lib.toString(), "--out", other.toString());
        assertEquals("1 plumb-agent: " + other + " is not empty and was not made by this command\n",
                foreign.code + " " + foreign.err);
        Child inside = Child.command(folder, "weave", "--in", lib.toString(), "--out", lib.resolve("x").toString());
        assertTrue(inside.code == 1 && inside.err.contains("must not be inside one another"), inside.err);
    }

    @Test
    void reportSaysWhatALibraryHas() throws Exception {
        Path lib = appJar("lib");
        Child good = Child.command(folder, "report", "--in", lib.toString(), "--functions", list.toString());
        assertTrue(good.code == 0 && good.out.contains("App#work") && good.out.contains("no such class: "), good.err);
        Files.writeString(list, "[App client]\nwrok(..) App#work\n[Ap client]\na() Ap#a");
        Child bad = Child.command(folder, "report", "--in", lib.toString(), "--functions=" + list, "--json");
        assertEquals(1, bad.code, bad.err);
        assertTrue(
                bad.out.contains("{\"status\": \"no such method\", \"class\": \"App\", \"function\": \"App wrok(..)\", "
                        + "\"span\": \"App#work\", \"place\": \"" + list + ":2\", "
                        + "\"detail\": \"no method wrok; did you mean \\\"work\\\"?\", \"site\": true, \"missing\": []}"),
                bad.out);
        assertTrue(bad.out.contains("\"status\": \"no such class\", \"class\": \"Ap\""), bad.out);
    }

    @Test
    void misuseIsExplained() throws Exception {
        assertEquals("2 plumb-agent: unknown command \"weav\"; did you mean \"weave\"? (--help lists all)\n",
                misuse("weav"));
        assertEquals("2 plumb-agent: unknown option \"--ot\"; did you mean \"--out\"? (--help lists all)\n",
                misuse("weave", "--in", "x", "--ot", "y"));
        assertEquals("2 plumb-agent: --out is missing (--help lists all)\n", misuse("weave", "--in", "x"));
        assertEquals("2 plumb-agent: --in needs a value (--help lists all)\n", misuse("report", "--in"));
        assertEquals("1 plumb-agent: /none is neither a folder nor a jar\n", misuse("report", "--in", "/none"));
        assertEquals("plumb-agent 0.1.0\n", Child.command(folder, "--version").out);
        assertTrue(Child.command(folder, "--help").out.contains("report --in LIB [--functions FILE] [--json]\n"));
        assertTrue(Child.command(folder, "--help-config").out.contains("receivers"));
    }

    private String misuse(String... arguments) throws Exception {
        Child child = Child.command(folder, arguments);
        return child.code + " " + child.err;
    }
}
