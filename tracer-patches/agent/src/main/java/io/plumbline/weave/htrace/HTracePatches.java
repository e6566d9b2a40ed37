package io.plumbline.weave.htrace;

import io.plumbline.weave.classes.Patch;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What is changed for Hadoop 2.8 to 3.3.1, which trace with HTrace 4. */
public final class HTracePatches {
    public static final List<Patch> ALL = Collections.unmodifiableList(Arrays.<Patch>asList(new TracerPatch(),
            new TracerBuilderPatch(), new TracerPoolPatch(), new TraceScopePatch(), new MilliSpanPatch(),
            new RpcHandlerPatch()));

    private HTracePatches() {
    }
}
