package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.report.WeaveCounts;
import io.plumbline.trace.settings.Switch;
import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The agent's bean as JMX clients see it. */
@Timeout(60)
class AgentBeanTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static ObjectName name;

    @BeforeAll
    static void register() throws Exception {
        name = new ObjectName("io.plumbline:type=Agent");
        AgentBean.registerSoon();
        AgentBean.registerSoon();
        while (!SERVER.isRegistered(name)) {
            Thread.yield();
        }
    }

    private static Object get(String attribute) throws Exception {
        return SERVER.getAttribute(name, attribute);
    }

    @Test
    void samplingIsSetAndTakenBack() throws Exception {
        assertEquals("default", get("SamplingSource"));
        SERVER.setAttribute(name, new Attribute("Sampling", "Workload#*=always; 0.5"));
        assertEquals("Workload#*=always; 0.5", get("Sampling"));
        assertEquals("jmx", get("SamplingSource"));
        assertTrue(Sampling.current().sample("Workload#run"));
        RuntimeMBeanException thrown = assertThrows(RuntimeMBeanException.class,
                () -> SERVER.setAttribute(name, new Attribute("Sampling", "sometimes")));
        assertInstanceOf(IllegalArgumentException.class, thrown.getCause());
        assertEquals("Workload#*=always; 0.5", get("Sampling"));
        SERVER.setAttribute(name, new Attribute("Sampling", ""));
        assertEquals("default", get("SamplingSource"));
    }

    @Test
    void switchedOffAndOn() throws Exception {
        assertEquals(true, get("Enabled"));
        SERVER.setAttribute(name, new Attribute("Enabled", false));
        assertFalse(Switch.on());
        SERVER.setAttribute(name, new Attribute("Enabled", true));
        assertTrue(Switch.on());
    }

    @Test
    void reportIsTheAgents() throws Exception {
        AgentBean.counts(new WeaveCounts() {
            @Override
            public long woven() {
                return 3;
            }

            @Override
            public long notFound() {
                return 1;
            }

            @Override
            public String text() {
                return "the report";
            }
        });
        assertEquals(3L, get("Woven"));
        assertEquals(1L, get("NotFound"));
        assertEquals("the report", get("Report"));
        AgentBean.counts(null);
        assertEquals("", get("Report"));
    }

    @Test
    void troublesBySort() throws Exception {
        Trouble.count(Trouble.Kind.VALUE, new IllegalStateException("of a test"));
        assertEquals("VALUE: java.lang.IllegalStateException: of a test", get("LastTrouble"));
        CompositeData row = ((TabularData) get("Troubles")).get(new Object[] {"value"});
        assertTrue((Long) row.get("value") >= 1);
    }

    @Test
    void everyAttributeCanBeRead() throws Exception {
        for (var attribute : SERVER.getMBeanInfo(name).getAttributes()) {
            assertNotNull(get(attribute.getName()), attribute.getName());
        }
        CompositeData row = ((TabularData) get("Settings")).get(new Object[] {"sampling"});
        assertEquals("1/s (default)", row.get("value"));
    }
}
