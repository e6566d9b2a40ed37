import java.lang.management.ManagementFactory;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The counters of our span receiver in this process, from JMX. */
final class Counters {
    private static final String[] NAMES = {
        "SpansReceived", "SpansSent", "SpansAcknowledged", "SpansQueued", "SpansInFlight", "SpansDropped",
        "BatchesSent", "BatchesResent", "Failures"};
    private static final int POLL_MS = 20;

    private Counters() {}

    /** As JSON, when every span is acknowledged or dropped, or when the time is over; "null" without our receiver. */
    static String settled(int seconds) throws JMException, InterruptedException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Set<ObjectName> beans = server.queryNames(new ObjectName("io.plumbline:type=SpanReceiver,*"), null);
        if (beans.isEmpty()) {
            return "null";
        }
        ObjectName bean = beans.iterator().next();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (open(server, bean) > 0 && System.nanoTime() < end) {
            Thread.sleep(POLL_MS);
        }
        StringBuilder json = new StringBuilder("{\"SenderId\": \"" + server.getAttribute(bean, "SenderId") + "\"");
        for (String name : NAMES) {
            json.append(", \"").append(name).append("\": ").append(server.getAttribute(bean, name));
        }
        return json.append("}").toString();
    }

    private static long open(MBeanServer server, ObjectName bean) throws JMException {
        long acknowledged = (Long) server.getAttribute(bean, "SpansAcknowledged");
        long dropped = (Long) server.getAttribute(bean, "SpansDropped");
        return (Long) server.getAttribute(bean, "SpansReceived") - acknowledged - dropped;
    }
}
