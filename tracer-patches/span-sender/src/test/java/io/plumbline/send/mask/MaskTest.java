package io.plumbline.send.mask;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Masking, held to the same file of texts as plumbd's. */
class MaskTest {
    private static final byte[] KEY = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final String ANNOTATION = "annotation ";

    @TempDir
    Path folder;

    private static Stream<String> vectors() throws Exception {
        return Files.readAllLines(Path.of("../../tests/data/masks.txt")).stream()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"));
    }

    private static String unescaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int known = c == '\\' ? "tnvfr\\".indexOf(text.charAt(++i)) : -1;
            out.append(known < 0 ? c : "\t\n\u000b\f\r\\".charAt(known));
        }
        return out.toString();
    }

    private static SpanData span(String what, String text) {
        SpanData span = new SpanData();
        span.name = what.equals("name") ? text : "op";
        if (what.startsWith(ANNOTATION)) {
            span.annotate(what.substring(ANNOTATION.length()), text);
        } else if (what.equals("note")) {
            span.note(1, text);
        }
        return span;
    }

    private static String left(String what, SpanData span) {
        if (what.startsWith(ANNOTATION)) {
            return span.annotations() == 0 ? "(dropped)" : span.text(0);
        }
        if (what.equals("note")) {
            return span.notes() == 0 ? "(dropped)" : span.note(0);
        }
        return span.name;
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void asInPlumbd(String vector) {
        String[] fields = vector.split("\t", -1);
        Mask mask = new Mask(fields[0], KEY);
        SpanData span = span(fields[1], unescaped(fields[2]));
        mask.apply(span);
        assertEquals(unescaped(fields[3]), left(fields[1], span));
        if (!fields[3].equals("(dropped)") && !fields[3].equals(Mask.NAME)) {
            mask.apply(span);
            assertEquals(unescaped(fields[3]), left(fields[1], span), "what is masked stays");
        }
    }

    @Test
    void numbersAndWhatIsDropped() {
        SpanData span = new SpanData();
        span.name = "op";
        span.annotate("sql", "SELECT");
        span.annotate("bytes", 17);
        span.annotate("account", 4711);
        span.annotate("path", "/a");
        span.note(1, "x");
        Mask mask = new Mask("annotation:sql=drop; annotation:account=hash; path=hash; note=drop", KEY);
        mask.apply(span);
        assertEquals(3, span.annotations());
        assertEquals("bytes", span.key(0));
        assertNull(span.text(0));
        assertEquals(17, span.number(0));
        assertEquals(mask.value("account", "4711"), span.text(1));
        assertEquals(17, span.text(1).length());
        assertEquals("path", span.key(2));
        assertEquals(0, span.notes());
    }

    /** As they are sent: without zero bytes and halves of characters, cut to what receivers take. */
    @Test
    void textsAsTheyAreSent() {
        Mask mask = new Mask("annotation:user=hash; path=hash", KEY);
        assertEquals(mask.value("user", "a\uFFFD?"), mask.value("user", "a\0\uD800"));
        String longest = String.join("", java.util.Collections.nCopies(65536, "x"));
        assertEquals(mask.value("user", longest), mask.value("user", longest + "y"));
        String grows = String.join("", java.util.Collections.nCopies(65536 / 2, "/a"));
        assertTrue(mask.value("why", grows).length() <= 65536);
        assertEquals(mask.value("why", mask.value("why", grows)), mask.value("why", grows));
        String other = String.join("", java.util.Collections.nCopies(65536 / 3, " /a"));
        assertEquals(17, mask.value("why", other).length(), "grown past what is taken, it is hashed as a whole");
    }

    /** The same text as long as a value may be: what is behind it is masked as alone. */
    @ParameterizedTest
    @ValueSource(strings = {"k=v&", ":", "a:", "=", "a://", "+-.="})
    void longWords(String piece) {
        Mask mask = new Mask("path=hash", KEY);
        String before = String.join("", java.util.Collections.nCopies(65000 / piece.length(), piece));
        boolean path = piece.endsWith("/");
        String masked = mask.value("why", ":" + before + " /a");
        String[] words = masked.split(" ");
        assertEquals(mask.value("why", "/a"), words[1]);
        assertEquals(path, !words[0].equals(":" + before));
    }

    @Test
    void namesStayFew() {
        Mask mask = new Mask("path=hash", KEY);
        assertSame(mask.name("GET /a"), mask.name(new String("GET /a")));
        String plain = "DFSClient#open";
        assertSame(plain, mask.name(plain));
    }

    @ParameterizedTest
    @ValueSource(strings = {"path", "path=drop", "path=keep", "path=keep x", "path=keep -1", "path=keep 65",
        "annotation:=x", "annotation:a", "user=hash", "=hash", "name:a=keep 1", "path=keep 1x", "note:x=drop",
        "path=Hash"})
    void wrongRules(String rule) {
        IllegalArgumentException error = assertThrows(IllegalArgumentException.class,
                () -> Mask.check("note=drop; " + rule));
        assertTrue(error.getMessage().startsWith("'" + rule + "': write path"), error.getMessage());
    }

    private Path key(String text, String rights) throws Exception {
        Path file = folder.resolve("key");
        Files.write(file, text.getBytes(StandardCharsets.US_ASCII));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
        return file;
    }

    private static String wrong(Map<String, String> settings) {
        return assertThrows(IllegalArgumentException.class, () -> Mask.of(new SenderOptions(settings::get)))
                .getMessage();
    }

    @Test
    void theKey() throws Exception {
        String file = key("0123456789abcdef \n", "rw-------").toString();
        Map<String, String> good = Map.of("mask.rules", "annotation:user=hash", "mask.key", file);
        Mask mask = Mask.of(new SenderOptions(good::get));
        assertEquals(new Mask("annotation:user=hash", KEY).value("user", "alice"), mask.value("user", "alice"));
        assertTrue(wrong(Map.of("mask.rules", "path=hash")).contains("goes with mask.key"));
        assertTrue(wrong(Map.of("mask.key", file)).contains("goes with mask.key"));
        assertTrue(wrong(Map.of("mask.rules", "paths=hash", "mask.key", file)).contains("'paths=hash': write"));
        key("0123456789abcdef", "rw-r-----");
        assertTrue(wrong(good).contains("can be read by others: chmod 600"));
        key("0123456789abcde\n", "rw-------");
        assertTrue(wrong(good).contains("the key has 15 bytes"));
        Files.delete(Path.of(file));
        assertTrue(wrong(good).contains("cannot read " + file));
    }
}
