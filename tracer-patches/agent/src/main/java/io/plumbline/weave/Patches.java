package io.plumbline.weave;

import io.plumbline.weave.hadoop.OwnScopes;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** All patches. */
final class Patches {
    static final List<Patch> ALL = Collections.unmodifiableList(Arrays.<Patch>asList(
            new OwnScopes()));

    private Patches() {
    }
}
