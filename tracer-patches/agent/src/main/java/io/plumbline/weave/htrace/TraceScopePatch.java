package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.Opcodes;

/** TraceScope: implements PatchedScope. */
final class TraceScopePatch extends HTracePatch {
    private static final String PARENT = "L" + SCOPE + ";";

    TraceScopePatch() {
        super("org.apache.htrace.core.TraceScope");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needField("parent", PARENT);
        edit.implement("io/plumbline/trace/htrace/PatchedScope");
        Code.property(edit, "plumbOwn", "Z");
        Code.method(edit, "plumbParent", "()L" + OBJECT + ";", code -> {
            load(code, 0);
            Code.field(code, SCOPE, "parent", PARENT);
            code.visitInsn(Opcodes.ARETURN);
        });
        Code.method(edit, "plumbParent", "(L" + OBJECT + ";)V", code -> {
            load(code, 0);
            load(code, 1);
            code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
            code.visitFieldInsn(Opcodes.PUTFIELD, SCOPE, "parent", PARENT);
            code.visitInsn(Opcodes.RETURN);
        });
    }
}
