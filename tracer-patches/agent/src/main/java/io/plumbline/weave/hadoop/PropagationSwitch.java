package io.plumbline.weave.hadoop;

import static net.bytebuddy.matcher.ElementMatchers.named;

import io.plumbline.trace.Propagation;
import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** With {@code propagation = off} no request names its parent span: the header's field stays absent. In every Hadoop. */
public final class PropagationSwitch implements Patch {
    private static final String TRANSFER = "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$";
    private static final Set<String> HEADERS = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(
            "org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RpcRequestHeaderProto$Builder",
            TRANSFER + "BaseHeaderProto$Builder",
            TRANSFER + "ReleaseShortCircuitAccessRequestProto$Builder",
            TRANSFER + "ShortCircuitShmRequestProto$Builder")));

    @Override
    public Set<String> classes() {
        return HEADERS;
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        if (type.getDeclaredMethods().filter(named("setTraceInfo")).isEmpty()) {
            throw new WeaveException("this version's header has no traceInfo");
        }
        return builder.visit(Advice.to(Off.class).on(named("setTraceInfo")));
    }

    /** Copied into the builder. Skipped, the method would return null: it is to return its builder. */
    static final class Off {
        private Off() {
        }

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter() {
            return !Propagation.on();
        }

        @Advice.OnMethodExit
        static void exit(@Advice.This Object builder, @Advice.Enter boolean off,
                @Advice.Return(readOnly = false, typing = Assigner.Typing.DYNAMIC) Object returned) {
            if (off) {
                returned = builder;
            }
        }
    }
}
