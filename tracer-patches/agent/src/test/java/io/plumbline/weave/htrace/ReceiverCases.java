package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.Tracer;
import org.apache.htrace.core.TracerPool;

/** One receiver for plumbd in each pool, without any configuration. */
final class ReceiverCases {
    private static final String OURS = "AgentReceiver";
    private static final String CONFIGURED = "PlumbSpanReceiver";
    private static final String CLASS = "io.plumbline.htrace.PlumbSpanReceiver";

    public void isThereByItself() {
        build("FSClient");
        assertEquals(Collections.singletonList(OURS), receivers());
        build("FsShell");
        assertEquals(Collections.singletonList(OURS), receivers());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void inOtherPoolsToo() {
        TracerPool pool = new TracerPool("an application's");
        new Tracer.Builder("App").conf(Traced.conf()).tracerPool(pool).build();
        assertEquals(1, pool.getReceivers().length);
    }

    public void givesWayToTheOperators() {
        build("FSClient", "span.receiver.classes", CLASS);
        assertEquals(Collections.singletonList(CONFIGURED), receivers());
    }

    public void givesWayToTheOperatorsLater() {
        build("NameNode");
        build("FSClient", "span.receiver.classes", CLASS);
        assertEquals(Collections.singletonList(CONFIGURED), receivers());
    }

    public void givesWayToOneAddedAtRunTime() {
        build("DataNode");
        pool().loadReceiverType(CLASS, Traced.conf(), getClass().getClassLoader());
        assertEquals(Collections.singletonList(CONFIGURED), receivers());
    }

    public void othersStay() {
        build("FSClient", "span.receiver.classes", "StandardOutSpanReceiver");
        assertTrue(receivers().containsAll(java.util.Arrays.asList("StandardOutSpanReceiver", OURS)), "" + receivers());
    }

    public void comesAgainWithTheNextTracer() {
        Tracer first = build("FsShell");
        first.close();
        assertEquals(Collections.emptyList(), receivers());
        build("FsShell");
        assertEquals(Collections.singletonList(OURS), receivers());
    }

    public void hadoopsConfigurationReachesTheSettings() {
        build("FSClient", "plumb.receiver.addresses", "plumbd.example.org:9999");
        assertEquals("plumbd.example.org:9999", Settings.current().get("receivers"));
    }

    private static Tracer build(String name, String... conf) {
        return new Tracer.Builder(name).conf(Traced.conf(conf)).build();
    }

    private static TracerPool pool() {
        return TracerPool.getGlobalTracerPool();
    }

    private static List<String> receivers() {
        List<String> names = new ArrayList<>();
        for (SpanReceiver receiver : pool().getReceivers()) {
            names.add(receiver.getClass().getSimpleName());
        }
        return names;
    }
}
