package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.Opcodes;

/** Each iterator of an RDD is measured, and so is the making of it. All of an RDD's are had from this one method. */
final class RddPatch extends SparkPatch {
    private static final String ITERATOR = "scala/collection/Iterator";

    RddPatch() {
        super("org.apache.spark.rdd.RDD");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needMethod("id", "()I");
        Around iterator = Around.method(edit, "iterator",
                "(Lorg/apache/spark/Partition;Lorg/apache/spark/TaskContext;)L" + ITERATOR + ";");
        iterator.before = code -> {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitVarInsn(Opcodes.ALOAD, 1);
            Around.hook(code, "opening", 2, true);
        };
        iterator.after = code -> {
            code.visitVarInsn(Opcodes.ALOAD, iterator.token);
            code.visitInsn(Opcodes.SWAP);
            Around.hook(code, "opened", 2, true);
            code.visitTypeInsn(Opcodes.CHECKCAST, ITERATOR);
        };
        iterator.failed = code -> {
            code.visitVarInsn(Opcodes.ALOAD, iterator.token);
            Around.hook(code, "notOpened", 1, false);
        };
        iterator.into(edit, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL);
    }
}
