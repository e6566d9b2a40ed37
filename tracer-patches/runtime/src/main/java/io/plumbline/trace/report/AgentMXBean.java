package io.plumbline.trace.report;

import java.util.Map;

/** {@code io.plumbline:type=Agent} in JMX, and so at {@code /jmx} of Hadoop's servers. One per process. */
public interface AgentMXBean {
    /** Is anything traced? FALSE stops it at once, and everywhere: also below what other processes began. */
    boolean isEnabled();

    void setEnabled(boolean enabled);

    /** The policy in force. */
    String getSampling();

    /**
     * Sets a policy that goes before all others until the process ends; "" takes it back.
     *
     * @throws IllegalArgumentException saying what cannot be read and what can
     */
    void setSampling(String policy);

    /** Where the policy in force comes from: jmx, receiver, settings, hadoop, default. */
    String getSamplingSource();

    /** Whose spans: "own" (Hadoop 3.3.2 and later), "HTrace", "none" after a failure; empty before the first call. */
    String getEngine();

    /** Of the Hadoop on the class path; empty when there is none. */
    String getHadoopVersion();

    /** Functions woven into classes that were loaded so far; 0 for jars that were woven before. */
    long getWoven();

    /** Functions of the list that a loaded class does not have. */
    long getNotFound();

    /** What was woven and what was not found, by function. */
    String getReport();

    /** What went wrong inside tracing and was kept from the application: kind to number. */
    Map<String, Long> getTroubles();

    /** Empty when there was none. */
    String getLastTrouble();

    /** Key to the value in force and where it is set. */
    Map<String, String> getSettings();

    /** What is not as it should be in the settings. */
    String[] getSettingProblems();
}
