import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The counters of our sender in this process, from JMX. A process may have several: their sums. */
final class Counters {
    private static final String[] NAMES = {
        "SpansReceived", "SpansSent", "SpansAcknowledged", "SpansQueued", "SpansInFlight", "SpansDropped",
        "BatchesSent", "BatchesResent", "Failures"};
    private static final int POLL_MS = 20;

    private Counters() {
    }

    /**
     * As JSON, when every span is acknowledged or dropped and none came meanwhile, or when the time is over; "null"
     * without a sender.
     */
    static String settled(int seconds) throws JMException, InterruptedException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        List<ObjectName> beans = senders(server);
        if (beans.isEmpty()) {
            return "null";
        }
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        long received;
        String json;
        do {
            received = sum(server, beans, "SpansReceived");
            while (open(server, beans) > 0 && System.nanoTime() < end) {
                Thread.sleep(POLL_MS);
            }
            json = read(server, beans);
        } while (received != sum(server, beans, "SpansReceived") && System.nanoTime() < end);
        return json + lastTrouble(server) + "}";
    }

    /** All of them, without the closing brace. */
    private static String read(MBeanServer server, List<ObjectName> beans) throws JMException {
        StringBuilder json =
                new StringBuilder("{\"SenderId\": \"" + server.getAttribute(beans.get(0), "SenderId") + "\"");
        for (String name : NAMES) {
            json.append(", \"").append(name).append("\": ").append(sum(server, beans, name));
        }
        return json.toString();
    }

    /** What the agent kept from us, if there is an agent: a field of JSON. */
    private static String lastTrouble(MBeanServer server) throws JMException {
        ObjectName agent = new ObjectName("io.plumbline:type=Agent");
        if (!server.isRegistered(agent)) {
            return "";
        }
        String text = String.valueOf(server.getAttribute(agent, "LastTrouble"));
        return ", \"LastTrouble\": \"" + text.replace('\\', '/').replace('"', '\'').replace('\n', ' ') + "\"";
    }

    private static List<ObjectName> senders(MBeanServer server) throws JMException {
        List<ObjectName> found = new ArrayList<>();
        for (ObjectName bean : server.queryNames(new ObjectName("io.plumbline:*"), null)) {
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(bean).getAttributes()) {
                if (attribute.getName().equals("SenderId")) {
                    found.add(bean);
                }
            }
        }
        return found;
    }

    private static long open(MBeanServer server, List<ObjectName> beans) throws JMException {
        long finished = sum(server, beans, "SpansAcknowledged") + sum(server, beans, "SpansDropped");
        return sum(server, beans, "SpansReceived") - finished;
    }

    private static long sum(MBeanServer server, List<ObjectName> beans, String name) throws JMException {
        long sum = 0;
        for (ObjectName bean : beans) {
            sum += ((Number) server.getAttribute(bean, name)).longValue();
        }
        return sum;
    }
}
