package io.plumbline.send;

import io.plumbline.send.base.Counters;
import io.plumbline.send.pack.SpanQueue;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/** The counters in JMX. */
final class SenderStats implements SenderMXBean {
    private static final Logger LOG = Logger.getLogger("io.plumbline.send");

    private final Counters counters;
    private final SpanQueue queue;
    private final BatchSender sender;
    private volatile ObjectName name;

    SenderStats(Counters counters, SpanQueue queue, BatchSender sender) {
        this.counters = counters;
        this.queue = queue;
        this.sender = sender;
    }

    /** A process that does not let us register goes without. */
    void register(long id) {
        try {
            ObjectName wanted = new ObjectName("io.plumbline:type=SpanReceiver,id=" + id);
            ManagementFactory.getPlatformMBeanServer()
                    .registerMBean(new StandardMBean(this, SenderMXBean.class, true), wanted);
            name = wanted;
        } catch (JMException | RuntimeException | LinkageError e) {
            LOG.log(Level.FINE, "no counters in JMX", e);
        }
    }

    void unregister() {
        try {
            if (name != null) {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
            }
        } catch (JMException | RuntimeException e) {
            LOG.log(Level.FINE, "counters stay in JMX", e);
        }
    }

    @Override
    public long getSpansReceived() {
        return queue.accepted() + counters.turnedAway.get();
    }

    @Override
    public long getSpansSent() {
        return counters.sent.get();
    }

    @Override
    public long getSpansAcknowledged() {
        return counters.acknowledged.get();
    }

    @Override
    public long getSpansQueued() {
        return queue.size();
    }

    @Override
    public long getSpansInFlight() {
        return counters.inFlight.get();
    }

    @Override
    public long getSpansDropped() {
        return counters.dropped();
    }

    @Override
    public Map<String, Long> getDrops() {
        return counters.dropsByReason();
    }

    @Override
    public long getBatchesSent() {
        return counters.batchesSent.get();
    }

    @Override
    public long getBatchesResent() {
        return counters.batchesResent.get();
    }

    @Override
    public long getFailures() {
        return counters.failures.get();
    }

    @Override
    public long getSamplingFailures() {
        return counters.samplingFailures.get();
    }

    @Override
    public long getShortened() {
        return counters.shortened.get();
    }

    @Override
    public String getReceiver() {
        return sender.peer();
    }

    @Override
    public String getLastError() {
        return sender.lastError();
    }

    @Override
    public String getSenderId() {
        return sender.senderId();
    }
}
