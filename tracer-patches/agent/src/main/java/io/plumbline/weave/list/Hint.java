package io.plumbline.weave.list;

import io.plumbline.trace.settings.Nearest;
import java.util.Collection;

/** The end of a message about a name that is not known. */
public final class Hint {
    private Hint() {
    }

    /** {@code ; did you mean "root"?}, or nothing when no known name is near. */
    public static String of(String name, Collection<String> known) {
        String near = Nearest.of(name, known);
        return near == null ? "" : "; did you mean \"" + near + "\"?";
    }
}
