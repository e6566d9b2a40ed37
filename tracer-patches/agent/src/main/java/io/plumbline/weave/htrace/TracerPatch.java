package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.TRACER;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.invoke;
import static io.plumbline.weave.htrace.Code.load;
import static io.plumbline.weave.htrace.Code.method;
import static net.bytebuddy.matcher.ElementMatchers.named;

import io.plumbline.trace.htrace.PatchedTracer;
import io.plumbline.weave.WeaveException;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FieldAccessor;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** Tracer: implements {@link PatchedTracer}, starts spans in nanoseconds, asks our sampling, bears scopes of ours. */
final class TracerPatch extends HTracePatch {
    private static final String CONTEXT = TRACER + "$ThreadContext";
    private static final String CONTEXTS = "L" + TRACER + "$ThreadLocalContext;";
    private static final String NAME_FIELD = "plumbName";
    private static final String NEW_ROOT = "(L" + CONTEXT + ";Ljava/lang/String;)L" + SCOPE + ";";

    TracerPatch() {
        super("org.apache.htrace.core.Tracer");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        check(type);
        DynamicType.Builder<?> changed = builder.implement(PatchedTracer.class)
                .defineField(NAME_FIELD, String.class, Visibility.PRIVATE, SyntheticState.SYNTHETIC);
        changed = Code.define(changed, "plumbName", String.class).intercept(FieldAccessor.ofField(NAME_FIELD));
        changed = Code.define(changed, "plumbName", void.class, String.class)
                .intercept(FieldAccessor.ofField(NAME_FIELD));
        changed = Code.define(changed, "plumbCurrent", Object.class).intercept(current());
        changed = Code.define(changed, "plumbCurrent", void.class, Object.class).intercept(setCurrent());
        changed = Code.define(changed, "plumbTopLevel", boolean.class).intercept(topLevel());
        changed = Code.define(changed, "plumbPop", void.class).intercept(pop());
        changed = Code.define(changed, "plumbRoot", Object.class, String.class).intercept(root());
        String scopeOnly = "(L" + SCOPE + ";)V";
        return changed
                .visit(Code.in(named("newScopeImpl"),
                        Code.atCall("org/apache/htrace/core/MilliSpan$Builder", "build", MilliSpanPatch::begun)))
                .visit(Code.in(named("newScope"),
                        Code.atCall(TRACER, "sample", TracerPatch::sample)))
                .visit(Code.in(method("closeScope", scopeOnly).or(method("detachScope", scopeOnly)),
                        Code.first(TracerPatch::surface)))
                .visit(Advice.to(NullScopeAdvice.class).on(method("popNullScope", "()V")));
    }

    private static void check(TypeDescription type) throws WeaveException {
        Code.needField(type, "threadLocalScope", "Ljava/lang/ThreadLocal;");
        Code.needField(type, "threadContext", CONTEXTS);
        Code.needMethod(type, "sample", "()Z");
        Code.needMethod(type, "newScope", "(Ljava/lang/String;)L" + SCOPE + ";");
        Code.needMethod(type, "newScope", "(Ljava/lang/String;Lorg/apache/htrace/core/SpanId;)L" + SCOPE + ";");
        Code.needMethod(type, "newScopeImpl", NEW_ROOT);
        Code.needMethod(type, "closeScope", "(L" + SCOPE + ";)V");
        Code.needMethod(type, "detachScope", "(L" + SCOPE + ";)V");
        Code.needMethod(type, "popNullScope", "()V");
    }

    private static Implementation current() {
        return Code.body(1, 1, code -> {
            scopes(code);
            invoke(code, "java/lang/ThreadLocal", "get", "()L" + OBJECT + ";");
            code.visitInsn(Opcodes.ARETURN);
        });
    }

    private static Implementation setCurrent() {
        return Code.body(2, 2, code -> {
            scopes(code);
            load(code, 1);
            code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
            invoke(code, "java/lang/ThreadLocal", "set", "(L" + OBJECT + ";)V");
            code.visitInsn(Opcodes.RETURN);
        });
    }

    private static Implementation topLevel() {
        return Code.body(1, 1, code -> {
            context(code);
            invoke(code, CONTEXT, "isTopLevel", "()Z");
            code.visitInsn(Opcodes.IRETURN);
        });
    }

    private static Implementation pop() {
        return Code.body(1, 1, code -> {
            context(code);
            invoke(code, CONTEXT, "popScope", "()V");
            code.visitInsn(Opcodes.RETURN);
        });
    }

    private static Implementation root() {
        return Code.body(3, 2, code -> {
            load(code, 0);
            context(code);
            load(code, 1);
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, TRACER, "newScopeImpl", NEW_ROOT, false);
            code.visitInsn(Opcodes.ARETURN);
        });
    }

    private static void scopes(MethodVisitor code) {
        code.visitFieldInsn(Opcodes.GETSTATIC, TRACER, "threadLocalScope", "Ljava/lang/ThreadLocal;");
    }

    private static void context(MethodVisitor code) {
        load(code, 0);
        Code.field(code, TRACER, "threadContext", CONTEXTS);
        invoke(code, "java/lang/ThreadLocal", "get", "()L" + OBJECT + ";");
        code.visitTypeInsn(Opcodes.CHECKCAST, CONTEXT);
    }

    /** this.sample() becomes HTraceHooks.sample(this, description). */
    private static void sample(MethodVisitor code, Runnable original) {
        load(code, 1);
        call(code, HOOKS, "sample", "(L" + OBJECT + ";Ljava/lang/String;)Z");
    }

    private static void surface(MethodVisitor code) {
        load(code, 0);
        load(code, 1);
        call(code, HOOKS, "surface", "(L" + OBJECT + ";L" + OBJECT + ";)V");
    }
}
