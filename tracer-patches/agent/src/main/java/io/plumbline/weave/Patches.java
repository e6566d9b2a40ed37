package io.plumbline.weave;

import io.plumbline.weave.hadoop.OwnScopes;
import io.plumbline.weave.htrace.HTracePatches;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** All patches. */
final class Patches {
    static final List<Patch> ALL = Collections.unmodifiableList(all());

    private Patches() {
    }

    private static List<Patch> all() {
        List<Patch> patches = new ArrayList<>();
        patches.add(new OwnScopes());
        patches.addAll(HTracePatches.ALL);
        return patches;
    }
}
