package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * With {@code propagation = off} no request names its parent span: the header's field stays absent. In every Hadoop.
 */
public final class PropagationSwitch implements Patch {
    private static final String TRANSFER = "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$";
    private static final String SETTER = "setTraceInfo";
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
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        String found = edit.method(SETTER, "(", "this version's header has no traceInfo");
        if (!found.endsWith(")L" + edit.name() + ";")) {
            throw new WeaveException("this version's " + SETTER + " does not return the builder");
        }
        return edit.in(SETTER, null, Off::new).bytes();
    }

    /** First of all: if (!Propagation.on()) return this. */
    private static final class Off extends MethodVisitor {
        Off(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            Label on = new Label();
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, "io/plumbline/trace/Propagation", "on", "()Z", false);
            mv.visitJumpInsn(Opcodes.IFNE, on);
            mv.visitVarInsn(Opcodes.ALOAD, 0);
            mv.visitInsn(Opcodes.ARETURN);
            mv.visitLabel(on);
            mv.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
            // There may be a frame at the method's own begin: two of them cannot be at one place.
            mv.visitInsn(Opcodes.NOP);
        }
    }
}
