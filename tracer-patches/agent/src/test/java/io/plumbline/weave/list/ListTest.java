package io.plumbline.weave.list;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Point;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The list of functions as text. */
class ListTest {
    private static FunctionList parse(String... lines) throws ListException {
        return FunctionList.parse(new StringReader(String.join("\n", lines)), "site.conf", true);
    }

    @Test
    void everythingOfALine() throws Exception {
        FunctionList list = parse("# comment", "", "[org.example.A$B  name-node] # more",
                "  read(byte[], java.util.List , ..)   A#read root unless-traced  n=arg1.length who='a # b  c' r:=return.x().y  # end",
                "[org.example.C x]", "carry <init>(..) -> run()  C#run  n=this.n", "between lock() unlock(..) C#held",
                "off a(..)",
                "b(String...) B background unless-leaf");
        Function read = list.of("org.example.A$B").get(0);
        assertEquals("A$B read(byte[], java.util.List, ..)", read.toString());
        assertEquals("name-node A#read site.conf:4", read.role + " " + read.span + " " + read.place);
        assertEquals("[n=arg1.length, who='a # b  c', r:=return.x().y]", read.values.toString());
        assertEquals("a # b  c", read.values.get(1).expression.literal);
        assertTrue(read.unlessTraced && read.flags == Point.ROOT && read.site);
        assertEquals("[C carry <init>(..) -> run(), C between lock() unlock(..), C off a(..), C b(String[])]",
                list.of("org.example.C").toString());
        assertEquals(Point.BACKGROUND | Point.UNLESS_LEAF, list.of("org.example.C").get(3).flags);
    }

    /** After [a.B x], in line 2, and what is said about it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "run() name rot | \"rot\": allowed are root, background, unless-traced, unless-leaf, stream, follows, key=value (recorded at the call) and key:=value"
                + " (recorded at the return); did you mean \"root\"?",
        "run() name unless-trace | did you mean \"unless-traced\"?",
        "run() name root unless-leaf | root and unless-leaf contradict each other",
        "run() name stream | only a root can open a stream: root stream",
        "run() name follows | only a method that may be a root can follow another: root follows",
        "carry <init>() -> run() x root follows | only a method that may be a root can follow another: root follows",
        "between a() b() x unless-leaf | only functions with a span of their own can be unless-leaf",
        "run() | the line ends where the span's name is expected",
        "run() a=arg1 | the span's name is missing before \"a=arg1\"",
        "run() root | the span's name is missing before \"root\"",
        "run( name | ( is not closed",
        "run() name a='x | ' is not closed",
        "run(1) name | \"1\" in \"run(1)\" is not a type",
        "run(.., int) name | \"..\" comes last",
        "1run() name | \"1run\" is not the name of a method; constructors are <init>",
        "cary <init>(..) -> run() x | \"cary\": expected method(types), carry, between, across, within or off; did you mean"
                + " \"carry\"?",
        "carry make() -> run() x n=arg1 | across and carry method(types) -> ... record no values",
        "carry <init>() run() x | expected: carry <init>(types) -> method(types) span-name",
        "between a() b() x root | only functions with a span of their own can be a root",
        "across a() b() x v=arg1 | across and carry method(types) -> ... record no values",
        "within a() b() x v=this.y | within records arguments and the result of the method that is called, not this",
        "between a() b() x v:=arg1 | between records values at the call of the second method only",
        "between a() x | \"x\": expected method(types)",
        "off a() x | nothing follows the method after \"off\"",
        "run() name a=arg0 | \"arg0\": expected arg1, arg2, ..., this, return or 'text', then .field or .method()",
        "run() name a=ths.x | \"ths.x\": expected arg1",
        "run() name a=this..x | \"this..x\": expected arg1",
        "run() name a=this.x(1) | \"this.x(1)\": expected arg1",
        "run() name a=return | the result is known at the return only: a:=...",
        "run() name a=arg1 a=arg2 | the same key twice",
        "run() name 1=arg1 | \"1\" is not a key",
        "run() name a=arg1 b=arg1 c=arg1 d=arg1 e=arg1 | at most 4 values at the call and 4 at the return",
        "[a.B] | \"[a.B]\": expected [class role], such as [org.example.Outer$Inner client]",
        "[a.B x | \"[a.B x\": expected [class role]",
    })
    void mistakesNameTheLine(String line, String said) {
        String message = assertThrows(ListException.class, () -> parse("[a.B x]", line)).getMessage();
        assertTrue(message.startsWith("site.conf:2: ") && message.contains(said), message);
    }

    @Test
    void functionBeforeItsClass() {
        assertEquals("site.conf:1: a line [class role] comes before the functions of a class",
                assertThrows(ListException.class, () -> parse("run() x")).getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "run() | ()V | true", "run() | (I)V | false", "run(..) | (IJ)V | true", "run(int) | (I)V | true",
        "run(int, ..) | (IJ)V | true", "run(int, ..) | (I)V | true", "run(int, ..) | (J)V | false",
        "run(byte[]) | ([B)V | true", "run(byte[]) | ([[B)V | false", "run(String) | (Ljava/lang/String;)V | true",
        "run(java.lang.String) | (Ljava/lang/String;)V | true", "run(lang.String) | (Ljava/lang/String;)V | true",
        "run(ring) | (Ljava/lang/String;)V | false", "run(Entry) | (Ljava/util/Map$Entry;)V | true",
        "run(Map.Entry) | (Ljava/util/Map$Entry;)V | true", "run(Map$Entry) | (Ljava/util/Map$Entry;)V | true",
        "run(String...) | ([Ljava/lang/String;)V | true", "ran() | ()V | false",
    })
    void signatures(String signature, String descriptor, boolean matches) {
        assertEquals(matches, Signature.parse(signature).matches("run", descriptor));
    }

    @Test
    void siteComesFirstAndBuiltInIsReadable(@TempDir Path folder) throws Exception {
        assertFalse(FunctionList.load(null).all().isEmpty());
        Path file = Files.writeString(folder.resolve("f.conf"),
                "[org.apache.hadoop.hdfs.DFSInputStream client]\nopenInfo(..) mine");
        List<Function> functions = FunctionList.load(file.toString()).of("org.apache.hadoop.hdfs.DFSInputStream");
        assertEquals("mine", functions.get(0).span);
        assertTrue(functions.size() > 1 && functions.get(0).site && !functions.get(1).site);
        String missing = folder.resolve("none.conf").toString();
        assertTrue(assertThrows(ListException.class, () -> FunctionList.load(missing)).getMessage()
                .startsWith("functions = " + missing + ": cannot be read"));
    }
}
