package io.plumbline.trace.htrace;

import io.plumbline.send.SpanSender;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.util.function.Consumer;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.TracerPool;

/** One receiver of plumbd's, and not two, in each pool of tracers. */
final class Receivers {
    /** What an operator may have configured: in the jar for sites without the agent, of whatever version. */
    private static final String CONFIGURED = "io.plumbline.htrace.PlumbSpanReceiver";

    private Receivers() {
    }

    /** After a tracer was built and has loaded what Hadoop's configuration names. */
    static synchronized void install(TracerPool pool) {
        AgentReceiver ours = null;
        boolean configured = false;
        for (SpanReceiver receiver : pool.getReceivers()) {
            if (receiver.getClass().getName().equals(CONFIGURED)) {
                configured = true;
                heed(receiver);
            }
            ours = receiver instanceof AgentReceiver ? (AgentReceiver) receiver : ours;
        }
        if (configured && ours != null) {
            pool.removeReceiver(ours);
        } else if (!configured && ours == null) {
            pool.addReceiver(new AgentReceiver(sender()));
        }
    }

    /** An operator added one while the process runs ("hadoop trace -add"). */
    static void added(TracerPool pool, SpanReceiver receiver) {
        if (receiver.getClass().getName().equals(CONFIGURED)) {
            install(pool);
        }
    }

    /** What it hears of sampling holds for the agent too. An older jar's class does not tell. */
    private static void heed(SpanReceiver receiver) {
        try {
            Consumer<String> listener = Sampling.current()::fromReceiver;
            receiver.getClass().getMethod("onSampling", Consumer.class).invoke(receiver, listener);
        } catch (NoSuchMethodException e) {
            // then only the settings decide
        } catch (ReflectiveOperationException | RuntimeException e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    private static SpanSender sender() {
        SpanSender sender = SpanSender.process(() -> new SenderOptions(Settings.current()::get));
        sender.onSampling(Sampling.current()::fromReceiver);
        return sender;
    }
}
