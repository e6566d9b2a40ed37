import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What the load has done. Any thread. */
final class Tally {
    private final Map<String, Long> operations = new TreeMap<>();
    private long writtenBytes;
    private long readBytes;

    synchronized void count(String operation) {
        operations.merge(operation, 1L, Long::sum);
    }

    synchronized void wrote(long bytes) {
        writtenBytes += bytes;
    }

    synchronized void read(long bytes) {
        readBytes += bytes;
    }

    synchronized String json(double seconds, String sender) {
        String counts = operations.entrySet().stream()
                .map(entry -> "\"" + entry.getKey() + "\": " + entry.getValue())
                .collect(Collectors.joining(", "));
        return String.format(Locale.ROOT, "{\"seconds\": %.3f, \"written_bytes\": %d, \"read_bytes\": %d, "
                + "\"operations\": {%s}, \"sender\": %s}", seconds, writtenBytes, readBytes, counts, sender);
    }
}
