package io.plumbline.weave;

import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.hadoop.CallerContexts;
import io.plumbline.weave.hadoop.EditSyncs;
import io.plumbline.weave.hadoop.InputStreams;
import io.plumbline.weave.hadoop.LoginUsers;
import io.plumbline.weave.hadoop.OutputStreams;
import io.plumbline.weave.hadoop.OwnScopes;
import io.plumbline.weave.hadoop.Packets;
import io.plumbline.weave.hadoop.PropagationSwitch;
import io.plumbline.weave.hadoop.SentPackets;
import io.plumbline.weave.hadoop.TraceInfoMessages;
import io.plumbline.weave.hadoop.TracingClasses;
import io.plumbline.weave.htrace.HTracePatches;
import io.plumbline.weave.spark.SparkPatches;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** All patches. */
public final class Patches {
    static final List<Patch> ALL = Collections.unmodifiableList(all());

    private Patches() {
    }

    private static List<Patch> all() {
        List<Patch> patches = new ArrayList<>();
        patches.add(new OwnScopes());
        patches.add(new TracingClasses());
        patches.add(new TraceInfoMessages());
        patches.add(new PropagationSwitch());
        patches.add(new Packets());
        patches.add(new OutputStreams());
        patches.add(new SentPackets());
        patches.add(new InputStreams());
        patches.add(new EditSyncs());
        patches.add(new CallerContexts());
        patches.add(new LoginUsers());
        patches.addAll(HTracePatches.ALL);
        patches.addAll(SparkPatches.ALL);
        return patches;
    }
}
