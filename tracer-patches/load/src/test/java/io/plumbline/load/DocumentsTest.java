package io.plumbline.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DocumentsTest {
    /** As a pipe that is full. */
    private static final class Stuck extends OutputStream {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch free = new CountDownLatch(1);
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        @Override
        public void write(int one) {
            entered.countDown();
            try {
                free.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            out.write(one);
        }
    }

    @Test
    void all_that_is_read_comes() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Documents documents = new Documents(new PrintStream(out, true, "UTF-8"));
        documents.add("one");
        documents.add("two");
        documents.close(TimeUnit.MINUTES.toNanos(1));
        assertEquals("one\ntwo\n", out.toString("UTF-8"));
    }

    @Test
    @Timeout(60)
    void a_reader_that_does_not_read_holds_up_nothing() throws Exception {
        Stuck stuck = new Stuck();
        Documents documents = new Documents(new PrintStream(stuck, true, "UTF-8"));
        documents.add("0");
        stuck.entered.await();
        for (int i = 1; i < 1000; i++) {
            documents.add(Integer.toString(i));
        }
        documents.close(1);
        stuck.free.countDown();
        documents.close(TimeUnit.MINUTES.toNanos(1));
        String read = stuck.out.toString("UTF-8");
        assertTrue(read.startsWith("0\n9") && read.endsWith("\n999\n"), read);
    }
}
