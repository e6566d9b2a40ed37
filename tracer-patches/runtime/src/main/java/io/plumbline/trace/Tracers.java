package io.plumbline.trace;

import io.plumbline.send.TracerNames;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.TracerIdFormat;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What processes call themselves in spans: tracer ids as HTrace forms them ({@code tracer.id}, by default
 * {@code %{tname}/%{host}}), with the pid. Any thread.
 */
public final class Tracers {
    /** A process has one or two. */
    private static final int MAX_KEPT = 1000;
    private static final TracerNames NAMES = new TracerNames(TracerNames.ownPid());
    private static final ConcurrentHashMap<String, String> IDS = new ConcurrentHashMap<>();
    private static final ConcurrentHashMap<String, String> TRACER_OF_ROLE = new ConcurrentHashMap<>();

    static {
        TRACER_OF_ROLE.put("client", "FSClient");
        TRACER_OF_ROLE.put("datanode", "DataNode");
        TRACER_OF_ROLE.put("namenode", "NameNode");
        TRACER_OF_ROLE.put("journalnode", "JournalNode");
    }

    /** Another one since the settings changed. */
    private static volatile Object generation = new Object();

    /** A name that holds as long as the settings do. */
    public static final class Id {
        private final String text;
        private final Object of;

        private Id(String text, Object of) {
            this.text = text;
            this.of = of;
        }
    }

    private Tracers() {
    }

    /** Of a function that is a root. */
    public static String of(Point point) {
        Id known = point.tracer;
        if (known == null || known.of != generation) {
            Object of = generation;
            known = new Id(ofRole(point.role), of);
            point.tracer = known;
        }
        return known.text;
    }

    /** Of a tracer of that name. @param known what this returned the last time; null at first */
    public static Id id(String name, Id known) {
        if (known != null && known.of == generation) {
            return known;
        }
        Object of = generation;
        return new Id(id(name), of);
    }

    public static String text(Id id) {
        return id.text;
    }

    /** @param name of the tracer, such as "FSClient" */
    public static String id(String name) {
        String known = IDS.get(name);
        if (known != null) {
            return known;
        }
        String format = Settings.current().get("tracer.id");
        String id = NAMES.withPid(TracerIdFormat.expand(format == null ? TracerIdFormat.USUAL : format, name));
        if (IDS.size() < MAX_KEPT) {
            IDS.put(name, id);
        }
        return id;
    }

    /** For a root of a function of that kind of process. A site's own roles name the process by its main class. */
    static String ofRole(String role) {
        String name = TRACER_OF_ROLE.get(role);
        return id(name == null ? TracerIdFormat.processName() : name);
    }

    /** The settings changed. */
    public static void forget() {
        IDS.clear();
        generation = new Object();
    }
}
