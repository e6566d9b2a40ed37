package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** W3C's traceparent, as text of others. */
class TraceParentTest {
    private static final String IDS = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

    @Test
    void itIsRead() {
        TraceParent parent = TraceParent.parse("00-" + IDS + "-01");
        assertEquals(IDS, parent.trace + "-" + parent.span);
        assertTrue(parent.sampled);
        assertEquals(0x8448eb211c80319cL, parent.ref().trace);
        assertEquals(0xb7ad6b7169203331L, parent.ref().span);
    }

    @Test
    void laterVersionsGoOn() {
        assertEquals(0x8448eb211c80319cL, TraceParent.parse("cc-" + IDS + "-03-what").ref().trace);
    }

    @Test
    void whatIsNotRecordedIsNoParent() {
        assertNull(TraceParent.parse("00-" + IDS + "-00").ref());
        assertNull(TraceParent.parse("00-0af7651916cd43dd0000000000000000-b7ad6b7169203331-01").ref());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "00-" + IDS, "00-" + IDS + "-1", "00-" + IDS + "-01-", "00-" + IDS + "-01x",
        "ff-" + IDS + "-01", "cc-" + IDS + "-01x", "00_" + IDS + "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319\u0661-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", " 00-" + IDS + "-01", "00-" + IDS + "-01\n"})
    void anythingElseIsNone(String text) {
        assertNull(TraceParent.parse(text));
    }

    @Test
    void longTextIsNotLookedAt() {
        assertNull(TraceParent.parse(null));
        assertNull(TraceParent.parse("cc-" + IDS + "-01-" + String.join("", Collections.nCopies(10_000, "x"))));
    }
}
