package io.plumbline.agent;

import io.plumbline.send.TracerNames;
import io.plumbline.trace.report.Trouble;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;

/**
 * Keeps a file with the report: a moment after it changes, and when the process ends. A reader always finds a whole
 * one. One daemon thread writes.
 */
final class ReportFile {
    /** While classes are loaded findings come in crowds. */
    private static final long PAUSE_MS = 500;

    private final Path file;
    private final Path partial;
    private final WeaveReport report;
    private boolean changed;

    private ReportFile(Path file, WeaveReport report) {
        this.file = file;
        this.partial = file.resolveSibling(file.getFileName() + ".partial");
        this.report = report;
    }

    /**
     * @param name the file; it and its folder need not be there yet. {@code %{pid}} in it keeps processes with one
     *     configuration apart
     */
    static ReportFile start(String name, WeaveReport report) {
        String own = name.replace("%{pid}", TracerNames.ownPid());
        ReportFile file = new ReportFile(Paths.get(own).toAbsolutePath(), report);
        Thread writer = new Thread(file::run, "plumb-agent-report");
        writer.setDaemon(true);
        writer.setContextClassLoader(null);
        writer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(file::write, "plumb-agent-report-end"));
        return file;
    }

    synchronized void change() {
        changed = true;
        notifyAll();
    }

    private void run() {
        try {
            while (true) {
                awaitChange();
                Thread.sleep(PAUSE_MS);
                write();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void awaitChange() throws InterruptedException {
        while (!changed) {
            wait();
        }
        changed = false;
    }

    private synchronized void write() {
        try {
            Files.createDirectories(file.getParent());
            Files.write(partial, report.text().getBytes(StandardCharsets.UTF_8));
            Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException | RuntimeException e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
        }
    }
}
