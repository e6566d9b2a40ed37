package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Switch;
import java.util.Collections;

/**
 * What the NameNode's edit log calls when it syncs in a thread of its own: one sync for all edits that came meanwhile.
 * Their calls wait for it, each for as long as that takes; the sync itself lies below the first of them that is traced.
 * Nothing throws.
 */
public final class SyncHooks {
    private static final Point WAITS = point("FSEditLog#logSync");
    private static final Point SYNCS = point("FSEditLogAsync#logSync");
    /** The first edit that the next sync of this thread is for, of those that are traced. */
    private static final ThreadLocal<Since> FIRST = new ThreadLocal<>();

    private SyncHooks() {
    }

    private static Point point(String name) {
        return new Point(name, "namenode", 0, Collections.<String>emptyList(), Collections.<String>emptyList());
    }

    /** The edit log's thread takes an edit. @param since what {@link Hooks#since} gave when it was made; may be null */
    public static void takes(Object since) {
        if (since != null && FIRST.get() == null) {
            FIRST.set((Since) since);
        }
    }

    /** A sync begins, of all that this thread took since the last one. Null when nobody who waits for it is traced. */
    public static Object begin() {
        try {
            Since first = FIRST.get();
            if (first == null) {
                return null;
            }
            FIRST.remove();
            return Switch.on() ? Hooks.beginBelow(first.reserve(Hooks.engine()), SYNCS) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** It has ended, for that edit, too. @param since may be null */
    public static void done(Object since) {
        Hooks.until(since, WAITS);
    }
}
