package io.plumbline.trace;

import io.plumbline.trace.report.AgentMXBean;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.report.WeaveCounts;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.Switch;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/** The agent in JMX: what it does, and the two things that can be changed while the process runs. */
public final class AgentBean implements AgentMXBean {
    private static final Logger LOG = Logger.getLogger("io.plumbline.trace");
    private static final String NAME = "io.plumbline:type=Agent";
    /** Hadoop's VersionInfo reads it; looking at the class instead would load it. */
    private static final String VERSION_FILE = "common-version-info.properties";
    private static final long ASK_AFTER_MS = 5_000;
    private static final AtomicBoolean REGISTERED = new AtomicBoolean();
    private static volatile WeaveCounts counts;

    private AgentBean() {
    }

    /**
     * Registers the bean, once however often it is called, in a thread of its own: the first look at JMX takes tens of
     * milliseconds, and must not come before the application's main class where that one chooses the MBean server. So
     * not at premain; called when the first traced function runs. Never throws.
     */
    static void registerSoon() {
        if (!REGISTERED.compareAndSet(false, true)) {
            return;
        }
        try {
            Thread thread = new Thread(AgentBean::settleIn, "plumb-agent");
            thread.setDaemon(true);
            thread.setContextClassLoader(null); // do not keep an application's class loader alive
            thread.start();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    /** A short command has ended before the receiver is asked. */
    private static void settleIn() {
        register();
        try {
            Thread.sleep(ASK_AFTER_MS);
            Delivery.askIfSilent();
        } catch (InterruptedException e) {
            // Somebody ends all threads: there is nothing left to ask for.
        }
    }

    /** A process that does not let us register goes without. */
    private static void register() {
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .registerMBean(new StandardMBean(new AgentBean(), AgentMXBean.class, true), new ObjectName(NAME));
        } catch (Throwable e) {
            LOG.log(Level.FINE, "the agent is not in JMX", e);
        }
    }

    /** The agent's part. */
    public static void counts(WeaveCounts given) {
        counts = given;
    }

    @Override
    public boolean isEnabled() {
        return Switch.on();
    }

    @Override
    public void setEnabled(boolean enabled) {
        Switch.set(enabled);
    }

    @Override
    public String getSampling() {
        return Sampling.current().text();
    }

    @Override
    public void setSampling(String policy) {
        Sampling.current().fromJmx(policy);
    }

    @Override
    public String getSamplingSource() {
        return Sampling.current().source();
    }

    @Override
    public String getEngine() {
        return Engines.chosen();
    }

    @Override
    public String getHadoopVersion() {
        Properties properties = new Properties();
        try (InputStream in = AgentBean.class.getClassLoader().getResourceAsStream(VERSION_FILE)) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException | RuntimeException e) {
            return "";
        }
        return properties.getProperty("version", "");
    }

    @Override
    public long getWoven() {
        WeaveCounts known = counts;
        return known == null ? 0 : known.woven();
    }

    @Override
    public long getNotFound() {
        WeaveCounts known = counts;
        return known == null ? 0 : known.notFound();
    }

    @Override
    public String getReport() {
        WeaveCounts known = counts;
        return known == null ? "" : known.text();
    }

    @Override
    public Map<String, Long> getTroubles() {
        Map<String, Long> troubles = new LinkedHashMap<>();
        for (Trouble.Kind kind : Trouble.Kind.values()) {
            troubles.put(kind.name().toLowerCase(java.util.Locale.ROOT), Trouble.count(kind));
        }
        return troubles;
    }

    @Override
    public String getLastTrouble() {
        return Trouble.last();
    }

    @Override
    public Map<String, String> getSettings() {
        return Settings.current().inForce();
    }

    @Override
    public String[] getSettingProblems() {
        return Settings.current().problems().toArray(new String[0]);
    }
}
