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
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.pool.TypePool;

/**
 * Hadoop 3.3.2 and later name the parent span of a request in field 3 of their messages alone; HTrace's Hadoop knows
 * fields 1 and 2 alone (and a DataNode of that time cannot even read a message without them). These messages say it both
 * ways, and understand either.
 */
public final class TraceInfoMessages implements Patch {
    private static final String RPC = "org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RPCTraceInfoProto";
    private static final String TRANSFER =
            "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$DataTransferTraceInfoProto";
    private static final ClassFileLocator OURS =
            ClassFileLocator.ForClassLoader.of(TraceInfoMessages.class.getClassLoader());
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

    /** Not by {@link #change}: the code to copy names Hadoop's classes, which only {@code locator} finds. */
    @Override
    public byte[] replacement(String className, byte[] original, ClassFileLocator locator) throws WeaveException {
        ClassFileLocator all = new ClassFileLocator.Compound(ClassFileLocator.Simple.of(className, original), locator, OURS);
        TypePool pool = TypePool.Default.of(all);
        TypeDescription type = pool.describe(className).resolve();
        boolean writes = className.endsWith("$Builder");
        check(type, writes);
        DynamicType.Builder<?> builder = new ByteBuddy()
                .with(TypeValidation.DISABLED)
                .with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE)
                .with(Implementation.Context.Disabled.Factory.INSTANCE)
                .redefine(type, all);
        Class<?>[] advice = ADVICE.get(className);
        return (writes ? builder.visit(advice(pool, advice[0]).on(named("setSpanContext").and(takesArguments(1))))
                : builder.visit(advice(pool, advice[0]).on(named("hasSpanContext")))
                        .visit(advice(pool, advice[1]).on(named("getSpanContext")))).make().getBytes();
    }

    private static void check(TypeDescription type, boolean writes) throws WeaveException {
        for (String needed : writes ? Arrays.asList("setSpanContext", "setTraceId", "setParentId")
                : Arrays.asList("hasSpanContext", "getSpanContext", "hasTraceId", "hasParentId")) {
            if (type.getDeclaredMethods().filter(named(needed)).isEmpty()) {
                throw new WeaveException("this version has no " + needed + ": the message is HTrace's");
            }
        }
    }

    /** By its name: looking into the loaded class would look for Hadoop's classes beside it. */
    private static Advice advice(TypePool pool, Class<?> code) {
        return Advice.to(pool.describe(code.getName()).resolve(), OURS);
    }
}
