import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The agent of this process, through JMX as anybody else would see it. */
final class AgentBean {
    private static final int POLL_MS = 10;
    private static final int WAIT_MS = 20_000;

    private AgentBean() {
    }

    /** Waits for the bean, which comes with the first traced call. */
    static void setPolicy(String policy) throws JMException, InterruptedException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName agent = new ObjectName("io.plumbline:type=Agent");
        for (int waited = 0; !server.isRegistered(agent); waited += POLL_MS) {
            if (waited > WAIT_MS) {
                throw new IllegalStateException("no agent in this process");
            }
            Thread.sleep(POLL_MS);
        }
        server.setAttribute(agent, new Attribute("Sampling", policy));
    }

    /** Waits until every span is acknowledged or dropped. How many were dropped. */
    static double dropped(int seconds) throws JMException, InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end
                && sum("SpansReceived") > sum("SpansAcknowledged") + sum("SpansDropped")) {
            Thread.sleep(POLL_MS);
        }
        return sum("SpansDropped");
    }

    private static long sum(String name) throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        long sum = 0;
        for (ObjectName sender : server.queryNames(new ObjectName("io.plumbline:type=SpanReceiver,*"), null)) {
            sum += ((Number) server.getAttribute(sender, name)).longValue();
        }
        return sum;
    }
}
