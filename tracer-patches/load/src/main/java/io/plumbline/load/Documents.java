package io.plumbline.load;

import java.io.PrintStream;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Documents for whoever reads standard output, a line each, written by a thread of their own: a reader that has stopped
 * reading holds up nothing else. What it leaves is lost, the oldest first. One thread at a time.
 */
final class Documents {
    private static final int WAITING_MOST = 60;
    private static final String END = "";

    private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(WAITING_MOST);
    private final Thread writer;

    Documents(PrintStream out) {
        writer = new Thread(() -> write(out), "documents");
        writer.setDaemon(true);
        writer.start();
    }

    private void write(PrintStream out) {
        try {
            for (String document = waiting.take(); !document.equals(END); document = waiting.take()) {
                out.println(document);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void add(String document) {
        while (!waiting.offer(document)) {
            waiting.poll();
        }
    }

    /** No more are added. Waits until all are written, no longer than that. */
    void close(long longestNs) throws InterruptedException {
        add(END);
        TimeUnit.NANOSECONDS.timedJoin(writer, longestNs);
    }
}
