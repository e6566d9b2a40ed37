package io.plumbline.trace.report;

import io.plumbline.trace.AgentBean;

/** What the agent knows of its weaving; the agent gives one to {@link AgentBean}. Any thread. */
public interface WeaveCounts {
    /** Functions that were woven so far. */
    long woven();

    /** Functions whose class was loaded and has no such method. */
    long notFound();

    /** The whole report, for a person to read. */
    String text();
}
