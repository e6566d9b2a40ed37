package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.wire.WireProtocol;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartsTest {
    private final TracerNames names = new TracerNames("4242");

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "FSClient/10.0.0.5              | FSClient/10.0.0.5/4242",
        "DataNode/fe80:0:0:0:1%eth0     | DataNode/fe80:0:0:0:1%eth0/4242",
        "FSClient/10.0.0.5/4242         | FSClient/10.0.0.5/4242",
        "FSClient/10.0.0.5/77           | FSClient/10.0.0.5/77",
        "plain                          | plain",
        "FSClient/                      | FSClient/",
        "/10.0.0.5                      | /10.0.0.5",
        "\"\"                           | \"\""})
    void pidIsAddedToNameAndHost(String tracerId, String expected) {
        assertEquals(expected, names.withPid(tracerId));
        assertEquals(expected, names.withPid(tracerId), "the second time it is remembered");
    }

    @Test
    void ownPid() {
        assertEquals(Long.toString(ProcessHandle.current().pid()), TracerNames.ownPid());
        assertEquals("a/b", new TracerNames("").withPid("a/b"));
    }

    @Test
    void goodValues() {
        SenderOptions defaults = new SenderOptions(key -> null);
        assertEquals("[127.0.0.1:9410]", defaults.addresses.toString());
        assertEquals(WireProtocol.COMPACT, defaults.protocol);
        Map<String, String> settings = Map.of("receivers", " a , b:1,, [::1]:7,[fe80::1] ", "protocol", "Binary",
                "batch.spans", " 10 ", "queue.spans", "");
        SenderOptions options = new SenderOptions(settings::get);
        assertEquals("[a:9410, b:1, [::1]:7, [fe80::1]:9410]", options.addresses.toString());
        assertEquals(WireProtocol.BINARY, options.protocol);
        assertEquals(10, options.batchSpans);
        assertEquals(defaults.queueSpans, options.queueSpans);
    }

    /** What would send a secret in the clear, or leaves something out, is a mistake that is named. */
    @Test
    void logins() {
        assertFalse(new SenderOptions(key -> null).login.isSecure());
        Map<String, String> good = Map.of("tls", "on", "auth", "token", "auth.token.file", "/t");
        assertEquals("/t", new SenderOptions(good::get).login.token().getPath());
        assertFalse(new SenderOptions(Map.of("auth", "kerberos")::get).login.isSecure(), "a ticket is no secret");
        Map<String, String> all = Map.of("tls", "on", "auth", "kerberos", "auth.token.file", "/t", "auth.keytab", "/k",
                "auth.principal", "dn/_HOST");
        assertEquals("/t", new SenderOptions(all::get).login.token().getPath());
        for (Map<String, String> wrong : List.of(Map.of("tls", "yes"), Map.of("tls.trust", "/ca"),
                Map.of("tls", "on", "tls.certificate", "/c"), Map.of("tls", "on", "tls.key", "/k"),
                Map.of("auth", "token", "auth.token.file", "/t"), Map.of("tls", "on", "auth", "token"),
                Map.of("tls", "on", "auth.token.file", "/t"), Map.of("auth", "ticket"),
                Map.of("auth", "kerberos", "auth.token.file", "/t"), Map.of("auth.keytab", "/k"),
                Map.of("auth", "kerberos", "auth.keytab", "/k"), Map.of("auth", "token", "auth.principal", "p"),
                Map.of("auth", "kerberos", "auth.service", "plumb/h"))) {
            IllegalArgumentException error = assertThrows(IllegalArgumentException.class,
                    () -> new SenderOptions(wrong::get), wrong.toString());
            assertTrue(error.getMessage().matches("(tls|auth).*"), error.getMessage());
        }
    }

    @Test
    void backoffDoublesWithinBounds() {
        Backoff full = new Backoff(100, 1000, () -> 0.0);
        assertArrayEquals(new long[] {100, 200, 400, 800, 1000, 1000},
                new long[] {full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs()});
        full.reset();
        assertEquals(100, full.nextMs());
        assertEquals(75, new Backoff(100, 1000, () -> 0.9999999).nextMs(), 1);
        assertEquals(1, new Backoff(1, 1, () -> 0.9999999).nextMs());
    }
}
