package io.plumbline.send;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Adds the process id to tracer ids. HTrace's default, {@code FSClient/10.0.0.5}, is the same for all clients of one
 * host; with the pid, {@code FSClient/10.0.0.5/4242}, they can be told apart.
 *
 * <p>Ids that an operator formed in another way than {@code name/host} stay as they are. Any thread.
 */
public final class TracerNames {
    /** A process has one or two tracers; past this many names are put together anew each time, not kept. */
    private static final int MAX_KEPT = 1000;

    private final String pid;
    private final ConcurrentHashMap<String, String> kept = new ConcurrentHashMap<>();

    /** @param pid empty: not known, and ids stay as they are */
    public TracerNames(String pid) {
        this.pid = pid;
    }

    public String withPid(String tracerId) {
        String known = kept.get(tracerId);
        if (known != null) {
            return known;
        }
        String name = addPid(tracerId);
        if (kept.size() < MAX_KEPT) {
            kept.put(tracerId, name);
        }
        return name;
    }

    private String addPid(String tracerId) {
        int slash = tracerId.indexOf('/');
        boolean nameAndHost = slash > 0 && slash < tracerId.length() - 1 && tracerId.indexOf('/', slash + 1) < 0;
        return nameAndHost && !pid.isEmpty() ? tracerId + "/" + pid : tracerId;
    }

    /**
     * What a sender calls itself, before "@" and its start: the process as HTrace's %{pname} has it, with the host and
     * pid of one of its tracer ids. (A server has several tracers: a DataNode's own FSClient may end the first span.)
     */
    static String senderName(String tracerIdWithPid, String javaCommand) {
        int slash = tracerIdWithPid.indexOf('/');
        String main = javaCommand.trim().split("\\s+")[0];
        String jarName = main.substring(main.lastIndexOf('/') + 1);
        String process = jarName.endsWith(".jar")
                ? jarName.substring(0, jarName.length() - 4) : main.substring(main.lastIndexOf('.') + 1);
        return process.isEmpty() || slash < 0 ? tracerIdWithPid : process + tracerIdWithPid.substring(slash);
    }

    /** Empty when the system does not tell. (ProcessHandle came with Java 9.) */
    public static String ownPid() {
        try {
            return Files.readSymbolicLink(Paths.get("/proc/self")).toString();
        } catch (IOException | RuntimeException e) {
            String name = ManagementFactory.getRuntimeMXBean().getName();
            String pid = name.substring(0, Math.max(0, name.indexOf('@')));
            return pid.matches("[0-9]{1,10}") ? pid : "";
        }
    }
}
