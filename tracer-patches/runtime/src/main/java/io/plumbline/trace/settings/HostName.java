package io.plumbline.trace.settings;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * What this host calls itself. It is asked of the kernel, since a look-up of names may take seconds. Hosts that all
 * call themselves localhost would be one: these are named by their address.
 */
public final class HostName {
    private static final Path KERNEL = Paths.get("/proc/sys/kernel/hostname");
    private static final String HERE = name(KERNEL, System.getenv("HOSTNAME"));

    private HostName() {
    }

    public static String get() {
        return HERE;
    }

    /**
     * @param kernel the file with the kernel's name
     * @param shell what a shell says, where there is no such file; may be null
     */
    static String name(Path kernel, String shell) {
        String name = read(kernel);
        if (!isName(name)) {
            name = shell;
        }
        if (!isName(name)) {
            name = lookedUp();
        }
        return isName(name) ? name : TracerIdFormat.address();
    }

    private static boolean isName(String name) {
        return name != null && !name.isEmpty() && name.indexOf('/') < 0 && !"localhost".equals(name)
                && !name.startsWith("localhost.") && !"(none)".equals(name);
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).trim();
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    private static String lookedUp() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException | RuntimeException e) {
            return null;
        }
    }
}
