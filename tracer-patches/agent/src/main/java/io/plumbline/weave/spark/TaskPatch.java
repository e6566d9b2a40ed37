package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.Opcodes;

/** The task tells what it is, and what it failed of; it begins its span where no TaskRunner has done so. */
final class TaskPatch extends SparkPatch {
    private static final int ID = 1;
    private static final int ATTEMPT = 3;

    TaskPatch() {
        super("org.apache.spark.scheduler.Task");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needMethod("stageId", "()I");
        edit.needMethod("stageAttemptId", "()I");
        edit.needMethod("partitionId", "()I");
        Around run = Around.method(edit, "run", "(JI");
        run.before = code -> {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitVarInsn(Opcodes.LLOAD, ID);
            code.visitVarInsn(Opcodes.ILOAD, ATTEMPT);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, Around.HOOKS, "task", "(Ljava/lang/Object;JI)Ljava/lang/Object;",
                    false);
        };
        run.after = code -> {
            code.visitVarInsn(Opcodes.ALOAD, run.token);
            Around.hook(code, "succeeded", 1, false);
        };
        run.failed = code -> {
            code.visitVarInsn(Opcodes.ALOAD, run.token);
            code.visitVarInsn(Opcodes.ALOAD, run.result);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, Around.HOOKS, "failed",
                    "(Ljava/lang/Object;Ljava/lang/Throwable;)V", false);
        };
        run.into(edit, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL);
    }
}
