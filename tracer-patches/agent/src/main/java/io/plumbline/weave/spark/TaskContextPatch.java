package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Threads that Spark starts for a task (writers of Python processes and pipes) say whose they are: then we know, too.
 */
final class TaskContextPatch extends SparkPatch {
    private static final String SET = "setTaskContext";
    private static final String UNSET = "unset";

    TaskContextPatch() {
        super("org.apache.spark.TaskContext$");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needMethod(SET, "(Lorg/apache/spark/TaskContext;)V");
        edit.needMethod(UNSET, "()V");
        edit.in(SET, null, next -> new First(next, Opcodes.ALOAD)).in(UNSET, null,
                next -> new First(next, Opcodes.ACONST_NULL));
    }

    /** SparkHooks.context(the argument, or null). */
    private static final class First extends MethodVisitor {
        private final int push;

        First(MethodVisitor next, int push) {
            super(Opcodes.ASM9, next);
            this.push = push;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (push == Opcodes.ALOAD) {
                mv.visitVarInsn(Opcodes.ALOAD, 1);
            } else {
                mv.visitInsn(push);
            }
            Around.hook(mv, "context", 1, false);
        }
    }
}
