package io.plumbline.trace.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostNameTest {
    @TempDir
    Path folder;

    private Path kernel(String says) throws IOException {
        return Files.write(folder.resolve("hostname"), says.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theKernelIsAskedFirst() throws IOException {
        assertEquals("worker-3", HostName.name(kernel("worker-3\n"), "shell"));
        assertEquals("worker-3.example.org", HostName.name(kernel("worker-3.example.org\n"), null));
    }

    @Test
    void withoutItTheShell() {
        assertEquals("shell", HostName.name(folder.resolve("none"), "shell"));
    }

    @Test
    void aNameThatAllHostsHaveIsNone() throws IOException {
        for (String name : Arrays.asList("localhost", "localhost.localdomain", "", "(none)", "a/b")) {
            assertEquals("shell", HostName.name(kernel(name), "shell"), name);
            String otherwise = HostName.name(kernel(name), name);
            assertFalse(otherwise.isEmpty() || otherwise.startsWith("localhost") || otherwise.indexOf('/') >= 0,
                    otherwise);
        }
    }

    @Test
    void tracerIdsHoldIt() {
        assertEquals("DataNode/" + HostName.get(), TracerIdFormat.expand(TracerIdFormat.USUAL, "DataNode"));
        assertEquals("%{tname}/" + HostName.get() + "/%{pid}", TracerIdFormat.forHTrace("%{tname}/%{host}/%{pid}"));
        assertEquals("%{tname}/%{ip}", TracerIdFormat.forHTrace("%{tname}/%{ip}"));
    }
}
