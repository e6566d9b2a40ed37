package io.plumbline.send;

import io.plumbline.send.base.SenderOptions;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The sender that all tracing of a process shares. */
final class ProcessSender {
    private static final Logger LOG = Logger.getLogger("io.plumbline.send");
    private static final int ID = 0;

    private static volatile SpanSender sender;

    private ProcessSender() {
    }

    static SpanSender get(Supplier<SenderOptions> options) {
        SpanSender known = sender;
        return known != null ? known : create(options);
    }

    private static synchronized SpanSender create(Supplier<SenderOptions> options) {
        if (sender == null) {
            SpanSender created = new SpanSender(options.get(), ID);
            closeAtExit(created);
            sender = created;
        }
        return sender;
    }

    private static void closeAtExit(SpanSender created) {
        try {
            Thread hook = new Thread(created::closeAtExit, "plumb-span-sender-exit");
            hook.setContextClassLoader(null);
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException | SecurityException e) {
            LOG.log(Level.FINE, "the process is ending, or may not be watched: queued spans may be lost", e);
        }
    }
}
