package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.trace.htrace.PatchedScope;
import io.plumbline.weave.WeaveException;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FieldAccessor;
import net.bytebuddy.jar.asm.Opcodes;

/** TraceScope: implements {@link PatchedScope}. */
final class TraceScopePatch extends HTracePatch {
    private static final String OWN_FIELD = "plumbOwn";
    private static final String PARENT = "L" + SCOPE + ";";

    TraceScopePatch() {
        super("org.apache.htrace.core.TraceScope");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        Code.needField(type, "parent", PARENT);
        DynamicType.Builder<?> changed = builder.implement(PatchedScope.class)
                .defineField(OWN_FIELD, boolean.class, Visibility.PRIVATE, SyntheticState.SYNTHETIC);
        changed = Code.define(changed, "plumbOwn", boolean.class).intercept(FieldAccessor.ofField(OWN_FIELD));
        changed = Code.define(changed, "plumbOwn", void.class, boolean.class)
                .intercept(FieldAccessor.ofField(OWN_FIELD));
        changed = Code.define(changed, "plumbParent", Object.class).intercept(Code.body(1, 1, code -> {
            load(code, 0);
            Code.field(code, SCOPE, "parent", PARENT);
            code.visitInsn(Opcodes.ARETURN);
        }));
        return Code.define(changed, "plumbParent", void.class, Object.class).intercept(Code.body(2, 2, code -> {
            load(code, 0);
            load(code, 1);
            code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
            code.visitFieldInsn(Opcodes.PUTFIELD, SCOPE, "parent", PARENT);
            code.visitInsn(Opcodes.RETURN);
        }));
    }
}
