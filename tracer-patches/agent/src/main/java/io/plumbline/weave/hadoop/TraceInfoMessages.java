package io.plumbline.weave.hadoop;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;

/**
 * Hadoop 3.3.2 and later name the parent span of a request in field 3 of their messages alone; HTrace's Hadoop knows
 * fields 1 and 2 alone (and a DataNode of that time cannot even read a message without them). These messages say it both
 * ways, and understand either.
 */
public final class TraceInfoMessages implements Patch {
    private static final String RPC = "org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RPCTraceInfoProto";
    private static final String TRANSFER =
            "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$DataTransferTraceInfoProto";
    private static final Map<String, Class<?>[]> ADVICE = advice();

    private static Map<String, Class<?>[]> advice() {
        Map<String, Class<?>[]> advice = new HashMap<>();
        advice.put(RPC, new Class<?>[] {TraceInfoAdvice.RpcHas.class, TraceInfoAdvice.RpcGet.class});
        advice.put(TRANSFER, new Class<?>[] {TraceInfoAdvice.TransferHas.class, TraceInfoAdvice.TransferGet.class});
        advice.put(RPC + "$Builder", new Class<?>[] {TraceInfoAdvice.RpcSet.class});
        advice.put(TRANSFER + "$Builder", new Class<?>[] {TraceInfoAdvice.TransferSet.class});
        return Collections.unmodifiableMap(advice);
    }

    @Override
    public Set<String> classes() {
        return new HashSet<>(ADVICE.keySet());
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        boolean writes = type.getName().endsWith("$Builder");
        for (String needed : writes ? Arrays.asList("setSpanContext", "setTraceId", "setParentId")
                : Arrays.asList("hasSpanContext", "getSpanContext", "hasTraceId", "hasParentId")) {
            if (type.getDeclaredMethods().filter(named(needed)).isEmpty()) {
                throw new WeaveException("this version has no " + needed + ": the message is HTrace's");
            }
        }
        Class<?>[] advice = ADVICE.get(type.getName());
        if (writes) {
            return builder.visit(Advice.to(advice[0]).on(named("setSpanContext").and(takesArguments(1))));
        }
        return builder.visit(Advice.to(advice[0]).on(named("hasSpanContext")))
                .visit(Advice.to(advice[1]).on(named("getSpanContext")));
    }
}
