package io.plumbline.bench;

import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The agent of this JVM, through JMX. */
final class Agent {
    private static final int WAIT_MS = 20_000;

    private Agent() {
    }

    /** The bean comes with the first call of a woven function. */
    static void setPolicy(String policy, Functions woven) throws JMException, InterruptedException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName agent = new ObjectName("io.plumbline:type=Agent");
        for (int waited = 0; !server.isRegistered(agent); waited++) {
            if (waited > WAIT_MS) {
                throw new IllegalStateException("no agent in this JVM");
            }
            woven.alone(waited);
            Thread.sleep(1);
        }
        server.setAttribute(agent, new Attribute("Sampling", policy));
        if (((Number) server.getAttribute(agent, "Woven")).longValue() == 0) {
            throw new IllegalStateException("nothing was woven: " + server.getAttribute(agent, "Report"));
        }
    }

    /** Waits until all spans are acknowledged or dropped. */
    static void drain() throws JMException, InterruptedException {
        while (spans("SpansReceived") > spans("SpansAcknowledged") + spans("SpansDropped")) {
            Thread.sleep(1);
        }
    }

    /** Sum over the senders of this JVM. */
    static long spans(String counter) throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        long sum = 0;
        for (ObjectName sender : server.queryNames(new ObjectName("io.plumbline:type=SpanReceiver,*"), null)) {
            sum += ((Number) server.getAttribute(sender, counter)).longValue();
        }
        return sum;
    }
}
