package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * Hadoop 3.3.2 and later name the parent span of a request in field 3 of their messages alone; HTrace's Hadoop knows
 * fields 1 and 2 alone (and a DataNode of that time cannot even read a message without them). These messages say it
 * both ways, and understand either.
 */
public final class TraceInfoMessages implements Patch {
    private static final String RPC = "org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RPCTraceInfoProto";
    private static final String TRANSFER =
            "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$DataTransferTraceInfoProto";
    private static final String BUILDER = "$Builder";
    private static final Set<String> CLASSES = Collections.unmodifiableSet(
            new HashSet<>(Arrays.asList(RPC, RPC + BUILDER, TRANSFER, TRANSFER + BUILDER)));

    @Override
    public Set<String> classes() {
        return CLASSES;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        if (className.endsWith(BUILDER)) {
            writes(edit);
        } else {
            reads(edit);
        }
        return edit.bytes();
    }

    private static void writes(ClassEdit edit) throws WeaveException {
        String setContext = find(edit, "setSpanContext", "(L");
        String builder = setContext.substring(setContext.indexOf(')') + 1);
        String bytes = setContext.substring(2, setContext.indexOf(';'));
        if (!setContext.equals("(L" + bytes + ";)" + builder)) {
            throw new WeaveException("this version's setSpanContext is another: " + setContext);
        }
        TraceInfoCode code = new TraceInfoCode(edit.name(), bytes);
        edit.in("setSpanContext", setContext, code::afterSet)
                .addMethod(TraceInfoCode.HELPER, TraceInfoCode.SET, code.setDescriptor(), out -> code.set(out,
                        "(J)" + builder));
        find(edit, "setTraceId", "(J)" + builder);
        find(edit, "setParentId", "(J)" + builder);
    }

    private static void reads(ClassEdit edit) throws WeaveException {
        find(edit, "hasSpanContext", "()Z");
        find(edit, "hasTraceId", "()Z");
        find(edit, "hasParentId", "()Z");
        find(edit, "getTraceId", "()J");
        find(edit, "getParentId", "()J");
        String getContext = find(edit, "getSpanContext", "()L");
        TraceInfoCode code = new TraceInfoCode(edit.name(), getContext.substring(3, getContext.length() - 1));
        edit.in("hasSpanContext", "()Z", code::afterHas)
                .in("getSpanContext", getContext, code::afterGet)
                .addMethod(TraceInfoCode.HELPER, TraceInfoCode.CONTEXT, code.contextDescriptor(), code::context);
    }

    private static String find(ClassEdit edit, String name, String descriptor) throws WeaveException {
        return edit.method(name, descriptor, "this version has no " + name + ": the message is HTrace's");
    }
}
