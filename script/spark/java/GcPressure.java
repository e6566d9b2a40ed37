import java.util.ArrayDeque;

/**
 * Loaded into a running JVM (jcmd PID JVMTI.agent_load gc-pressure.jar seconds=S,share=F): holds this share of the heap
 * in small objects for so long, and replaces them all the time, so that the collector has work that leads nowhere.
 */
public final class GcPressure {
    private static final int PIECE = 16;
    private static final int CHUNK = 2000;

    private GcPressure() {
    }

    public static void agentmain(String settings) {
        double seconds = value(settings, "seconds", 10);
        double share = value(settings, "share", 0.5);
        Thread thread = new Thread(() -> hold(seconds, share), "gc-pressure");
        thread.setDaemon(true);
        thread.start();
    }

    private static double value(String settings, String name, double otherwise) {
        for (String pair : (settings == null ? "" : settings).split(",")) {
            if (pair.startsWith(name + "=")) {
                return Double.parseDouble(pair.substring(name.length() + 1));
            }
        }
        return otherwise;
    }

    private static void hold(double seconds, double share) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        // An Object[16] of the JVM takes 80 bytes, an Integer in each of its places 16.
        long chunkBytes = CHUNK * (80L + PIECE * 16L);
        long most = (long) (Runtime.getRuntime().maxMemory() * share) / chunkBytes;
        ArrayDeque<Object[][]> held = new ArrayDeque<>();
        int number = 100_000;
        while (System.nanoTime() < end) {
            Object[][] chunk = new Object[CHUNK][];
            for (int i = 0; i < CHUNK; i++) {
                chunk[i] = new Object[PIECE];
                for (int k = 0; k < PIECE; k++) {
                    chunk[i][k] = Integer.valueOf(number++ | 1 << 20);
                }
            }
            held.add(chunk);
            if (held.size() > most) {
                held.poll();
            }
        }
    }
}
