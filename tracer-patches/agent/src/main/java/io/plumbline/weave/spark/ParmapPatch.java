package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * Work on many things at once, in threads of a pool (the footers of Parquet files, for example), belongs to its caller.
 */
final class ParmapPatch extends SparkPatch {
    private static final String FUNCTION = "scala/Function1";

    ParmapPatch() {
        super("org.apache.spark.util.ThreadUtils$");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        String descriptor = edit.longest("parmap"); // where there are several, the others call it
        int local = 1;
        int function = -1;
        for (Type type : Type.getArgumentTypes(descriptor)) {
            function = type.getInternalName().equals(FUNCTION) ? local : function;
            local += type.getSize();
        }
        if (function < 0) {
            throw new WeaveException("this version's ThreadUtils.parmap takes no function");
        }
        int at = function;
        edit.in("parmap", descriptor, next -> new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                mv.visitVarInsn(Opcodes.ALOAD, at);
                Around.hook(mv, "carry", 1, true);
                mv.visitTypeInsn(Opcodes.CHECKCAST, FUNCTION);
                mv.visitVarInsn(Opcodes.ASTORE, at);
            }
        });
    }
}
