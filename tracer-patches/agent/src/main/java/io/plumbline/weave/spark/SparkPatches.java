package io.plumbline.weave.spark;

import io.plumbline.weave.classes.Patch;
import java.util.Collections;
import java.util.List;

/** Tasks and operations of Spark. */
public final class SparkPatches {
    public static final List<Patch> ALL = Collections.unmodifiableList(SparkPatch.all());

    private SparkPatches() {
    }
}
