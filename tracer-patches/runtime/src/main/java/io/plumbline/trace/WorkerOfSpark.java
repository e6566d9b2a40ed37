package io.plumbline.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * A Worker of Spark's own cluster gives its environment to the drivers and executors that it starts, and what the
 * application set besides. So a variable that the Worker has too, with that value, says nothing of the application.
 */
final class WorkerOfSpark {
    private static final String DRIVER = "org.apache.spark.deploy.worker.DriverWrapper ";
    /** An executor has it nowhere else. */
    private static final String OPTION = " --worker-url ";

    private WorkerOfSpark() {
    }

    /** Has this process that variable from the Worker that started it? FALSE, where that cannot be known. */
    static boolean gave(String command, String name, String value) {
        if (!started(command)) {
            return false;
        }
        try {
            return has(text("/proc/" + parent(text("/proc/self/stat")) + "/environ"), name, value);
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    static boolean started(String command) {
        return command.startsWith(DRIVER) || command.contains(OPTION);
    }

    private static String text(String file) throws IOException {
        return new String(Files.readAllBytes(Paths.get(file)), StandardCharsets.ISO_8859_1);
    }

    /** Of "1234 (java) S 1230 ...": a name may have brackets and blanks. */
    static String parent(String stat) {
        return stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ")[1];
    }

    static boolean has(String environment, String name, String value) {
        return ('\0' + environment + '\0').contains('\0' + name + '=' + value + '\0');
    }
}
