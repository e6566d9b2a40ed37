package io.plumbline.weave.htrace;

import io.plumbline.weave.Patch;
import java.util.Collections;
import java.util.Set;

/** Changes one class, which then calls HTraceHooks or is what our engine takes it for. */
abstract class HTracePatch implements Patch {
    private final Set<String> classes;

    HTracePatch(String className) {
        classes = Collections.singleton(className);
    }

    @Override
    public final Set<String> classes() {
        return classes;
    }

    @Override
    public final boolean refersToHTrace() {
        return true;
    }
}
