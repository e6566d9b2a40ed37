package io.plumbline.trace.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.trace.Hooks;
import org.junit.jupiter.api.Test;

/** What is thrown at us stays with us. */
class TroubleTest {
    /** An application's exception may be unable even to say what it is. */
    @Test
    void causeThatThrows() {
        long before = Trouble.count(Trouble.Kind.VALUE);
        assertNull(Hooks.unreadable(new RuntimeException() {
            @Override
            public String toString() {
                throw new StackOverflowError();
            }
        }));
        assertNull(Hooks.unreadable(null));
        assertEquals(before + 2, Trouble.count(Trouble.Kind.VALUE));
    }
}
