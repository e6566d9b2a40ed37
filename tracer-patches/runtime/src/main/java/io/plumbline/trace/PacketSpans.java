package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import java.io.Closeable;

/**
 * What woven packets of the HDFS client call (Hadoop 3.3.2 and later), where the client itself lost track: a packet has
 * all the writes that filled it as parents, and its span lasts until it is acknowledged or given up. Nothing throws.
 */
public final class PacketSpans {
    private PacketSpans() {
    }

    /** The packet's parents are asked for; the client goes on with the first alone. */
    public static void parents(Object[] contexts) {
        try {
            if (contexts != null && contexts.length > 1 && contexts[0] instanceof Together) {
                ((Together) contexts[0]).together(contexts);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** The packet gets another span, or none. */
    public static void replaced(Closeable span, Object by) {
        try {
            if (span != null && span != by) {
                span.close();
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }
}
