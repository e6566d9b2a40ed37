package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.load;
import static io.plumbline.weave.htrace.Code.method;

import io.plumbline.trace.htrace.PatchedScope;
import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FieldAccessor;
import net.bytebuddy.jar.asm.Opcodes;

/** TraceScope: implements {@link PatchedScope}. */
final class TraceScopePatch implements Patch {
    private static final String OWN_FIELD = "plumbOwn";
    private static final String PARENT = "L" + SCOPE + ";";

    @Override
    public Set<String> classes() {
        return Collections.singleton("org.apache.htrace.core.TraceScope");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        Code.needField(type, "parent", PARENT);
        return builder.implement(PatchedScope.class)
                .defineField(OWN_FIELD, boolean.class, Visibility.PRIVATE, SyntheticState.SYNTHETIC)
                .method(method("plumbOwn", "()Z")).intercept(FieldAccessor.ofField(OWN_FIELD))
                .method(method("plumbOwn", "(Z)V")).intercept(FieldAccessor.ofField(OWN_FIELD))
                .method(method("plumbParent", "()L" + OBJECT + ";")).intercept(Code.body(1, 1, code -> {
                    load(code, 0);
                    Code.field(code, SCOPE, "parent", PARENT);
                    code.visitInsn(Opcodes.ARETURN);
                }))
                .method(method("plumbParent", "(L" + OBJECT + ";)V")).intercept(Code.body(2, 2, code -> {
                    load(code, 0);
                    load(code, 1);
                    code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
                    code.visitFieldInsn(Opcodes.PUTFIELD, SCOPE, "parent", PARENT);
                    code.visitInsn(Opcodes.RETURN);
                }));
    }
}
