package io.plumbline.weave.hadoop;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import io.plumbline.trace.PacketSpans;
import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
import java.io.Closeable;
import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/**
 * Hadoop 3.3.2 and later: the span of a packet ("dataStreamer") has all the packet's parents, and ends when the packet is
 * acknowledged, sent anew, or given up. Hadoop itself keeps one parent and ends the span at none of these.
 */
public final class Packets implements Patch {
    private static final String PACKET = "org.apache.hadoop.hdfs.DFSPacket";
    private static final String SPAN = "org.apache.hadoop.tracing.Span";

    @Override
    public Set<String> classes() {
        return Collections.singleton(PACKET);
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        boolean modern = type.getDeclaredFields().stream()
                .anyMatch(f -> f.getName().equals("span") && f.getType().asErasure().getName().equals(SPAN));
        if (!modern) {
            throw new WeaveException("this version's packets keep HTrace's scopes, and close them");
        }
        for (String needed : Arrays.asList("getTraceParents", "setSpan", "releaseBuffer")) {
            if (type.getDeclaredMethods().filter(named(needed)).isEmpty()) {
                throw new WeaveException("this version's packets have no " + needed);
            }
        }
        return builder.visit(Advice.to(Parents.class).on(named("getTraceParents")))
                .visit(Advice.to(Replaced.class).on(named("setSpan").and(takesArguments(1))))
                .visit(Advice.to(Released.class).on(named("releaseBuffer")));
    }

    /** Copied into the packet, as are the others. */
    static final class Parents {
        private Parents() {
        }

        @Advice.OnMethodExit
        static void exit(@Advice.Return(typing = Assigner.Typing.DYNAMIC) Object parents) {
            PacketSpans.parents((Object[]) parents);
        }
    }

    static final class Replaced {
        private Replaced() {
        }

        @Advice.OnMethodEnter
        static void enter(
                @Advice.FieldValue(value = "span", typing = Assigner.Typing.DYNAMIC) Closeable span,
                @Advice.Argument(value = 0, typing = Assigner.Typing.DYNAMIC) Object by) {
            PacketSpans.replaced(span, by);
        }
    }

    static final class Released {
        private Released() {
        }

        @Advice.OnMethodExit
        static void exit(@Advice.FieldValue(value = "span", typing = Assigner.Typing.DYNAMIC) Closeable span) {
            PacketSpans.replaced(span, null);
        }
    }
}
