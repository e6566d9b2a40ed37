package io.plumbline.trace.htrace;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Tracer;

/** The tracers of this process by name: the one that was built last. Any thread. */
final class Tracers {
    private static final String CLIENT = "FSClient";
    /** Applications name theirs as they like; more names than any has are not kept. */
    private static final int MOST = 100;
    private static final Set<String> SERVERS = Collections.unmodifiableSet(
            new HashSet<>(Arrays.asList("NameNode", "DataNode", "JournalNode", "NamenodeFsck")));

    private static final Map<String, Tracer> BY_NAME = new ConcurrentHashMap<>();
    /** What is neither a server's nor Hadoop's client: FsShell, or an application's own. */
    private static volatile Tracer other;

    private Tracers() {
    }

    static void built(String name, Tracer tracer) {
        if (BY_NAME.containsKey(name) || BY_NAME.size() < MOST) {
            BY_NAME.put(name, tracer);
        }
        if (!server(name) && !CLIENT.equals(name)) {
            other = tracer;
        }
    }

    /** Of servers, which go on with what clients began; roots of theirs are their own samplers' business. */
    static boolean server(String name) {
        return name != null && SERVERS.contains(name);
    }

    /** Hadoop's client's. A task of Spark may begin before there is any. */
    static Tracer client() {
        Tracer known = ofRole("client");
        if (known == null) {
            new Tracer.Builder(CLIENT).conf(HTraceConfiguration.EMPTY).build();
            known = ofRole("client");
        }
        return known;
    }

    /** Where roots of functions of that role belong; null while there is none. */
    static Tracer ofRole(String role) {
        switch (role) {
            case "namenode":
                return BY_NAME.get("NameNode");
            case "datanode":
                return BY_NAME.get("DataNode");
            case "journalnode":
                return BY_NAME.get("JournalNode");
            default:
                Tracer client = BY_NAME.get(CLIENT);
                return client != null ? client : other;
        }
    }
}
