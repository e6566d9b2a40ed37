package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** The client's input stream: it keeps what its reads have in common, and says which of them begins a block. */
public final class InputStreams implements Patch {
    private static final String STREAM = "org.apache.hadoop.hdfs.DFSInputStream";
    private static final String FIELD = "plumb$reads";
    private static final String TYPE = "Ljava/lang/Object;";

    @Override
    public Set<String> classes() {
        return Collections.singleton(STREAM);
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        edit.needField("pos", "J");
        edit.needField("blockEnd", "J");
        return edit.implement("io/plumbline/trace/StreamHooks$Input")
                .addField(FIELD, TYPE)
                .addMethod(Opcodes.ACC_PUBLIC, "plumbReads", "()" + TYPE, code -> {
                    field(code, edit.name(), FIELD, TYPE);
                    code.visitInsn(Opcodes.ARETURN);
                })
                .addMethod(Opcodes.ACC_PUBLIC, "plumbReads", "(" + TYPE + ")V", code -> {
                    code.visitVarInsn(Opcodes.ALOAD, 0);
                    code.visitVarInsn(Opcodes.ALOAD, 1);
                    code.visitFieldInsn(Opcodes.PUTFIELD, edit.name(), FIELD, TYPE);
                    code.visitInsn(Opcodes.RETURN);
                })
                .addMethod(Opcodes.ACC_PUBLIC, "plumbBeyond", "()I", code -> {
                    field(code, edit.name(), "pos", "J");
                    field(code, edit.name(), "blockEnd", "J");
                    code.visitInsn(Opcodes.LCMP);
                    code.visitInsn(Opcodes.IRETURN);
                })
                .bytes();
    }

    private static void field(MethodVisitor code, String owner, String name, String type) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, name, type);
    }
}
