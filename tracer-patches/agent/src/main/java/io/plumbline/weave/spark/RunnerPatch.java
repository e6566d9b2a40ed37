package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.Opcodes;

/** What an executor's thread does for a task, from reading it to reporting its result, is the task's span. */
final class RunnerPatch extends SparkPatch {
    RunnerPatch() {
        super("org.apache.spark.executor.Executor$TaskRunner");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needMethod("taskId", "()J");
        Around run = Around.method(edit, "run", "()V");
        run.before = code -> {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            Around.hook(code, "runner", 1, true);
        };
        run.after = code -> {
            code.visitVarInsn(Opcodes.ALOAD, run.token);
            code.visitInsn(Opcodes.ACONST_NULL);
            Around.end(code);
        };
        run.failed = code -> {
            code.visitVarInsn(Opcodes.ALOAD, run.token);
            code.visitVarInsn(Opcodes.ALOAD, run.result);
            Around.end(code);
        };
        run.into(edit, Opcodes.ACC_PUBLIC);
    }
}
