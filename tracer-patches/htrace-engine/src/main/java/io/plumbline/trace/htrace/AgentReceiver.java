package io.plumbline.trace.htrace;

import io.plumbline.htrace.PlumbSpanReceiver;
import io.plumbline.send.SpanSender;
import io.plumbline.trace.settings.Switch;
import org.apache.htrace.core.Span;

/** The receiver that the agent puts into Hadoop's tracers by itself. It sends with the sender of the whole process. */
public final class AgentReceiver extends PlumbSpanReceiver {
    AgentReceiver(SpanSender sender) {
        super(sender);
    }

    @Override
    public void receiveSpan(Span span) {
        if (Switch.on()) {
            super.receiveSpan(span);
        }
    }
}
