package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.STRING;
import static io.plumbline.weave.htrace.Code.TRACER;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.invoke;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** Tracer: implements PatchedTracer, starts spans in nanoseconds, asks our sampling, bears scopes of ours. */
final class TracerPatch extends HTracePatch {
    private static final String CONTEXT = TRACER + "$ThreadContext";
    private static final String CONTEXTS = "L" + TRACER + "$ThreadLocalContext;";
    /** What popNullScope() did before it was patched. */
    private static final String POP_NULL = "plumb$popNullScope";
    private static final String NEW_ROOT = "(L" + CONTEXT + ";Ljava/lang/String;)L" + SCOPE + ";";

    TracerPatch() {
        super("org.apache.htrace.core.Tracer");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        check(edit);
        edit.implement("io/plumbline/trace/htrace/PatchedTracer");
        Code.property(edit, "plumbName", STRING);
        current(edit);
        setCurrent(edit);
        topLevel(edit);
        pop(edit);
        root(edit);
        popNullScope(edit);
        String scopeOnly = "(L" + SCOPE + ";)V";
        edit.in("newScopeImpl", null,
                Code.atCall("org/apache/htrace/core/MilliSpan$Builder", "build", MilliSpanPatch::begun))
                .in("newScope", null, Code.atCall(TRACER, "sample", TracerPatch::sample))
                .in("newScope", "(Ljava/lang/String;)L" + SCOPE + ";", Code.first(TracerPatch::ofStream))
                .in("closeScope", scopeOnly, Code.first(TracerPatch::surface))
                .in("detachScope", scopeOnly, Code.first(TracerPatch::surface));
    }

    private static void check(ClassEdit edit) throws WeaveException {
        edit.needField("threadLocalScope", "Ljava/lang/ThreadLocal;");
        edit.needField("threadContext", CONTEXTS);
        edit.needMethod("sample", "()Z");
        edit.needMethod("newScope", "(Ljava/lang/String;)L" + SCOPE + ";");
        edit.needMethod("newScope", "(Ljava/lang/String;Lorg/apache/htrace/core/SpanId;)L" + SCOPE + ";");
        edit.needMethod("newScopeImpl", NEW_ROOT);
        edit.needMethod("closeScope", "(L" + SCOPE + ";)V");
        edit.needMethod("detachScope", "(L" + SCOPE + ";)V");
        edit.needMethod("popNullScope", "()V");
    }

    private static void current(ClassEdit edit) {
        Code.method(edit, "plumbCurrent", "()L" + OBJECT + ";", code -> {
            scopes(code);
            invoke(code, "java/lang/ThreadLocal", "get", "()L" + OBJECT + ";");
            code.visitInsn(Opcodes.ARETURN);
        });
    }

    private static void setCurrent(ClassEdit edit) {
        Code.method(edit, "plumbCurrent", "(L" + OBJECT + ";)V", code -> {
            scopes(code);
            load(code, 1);
            code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
            invoke(code, "java/lang/ThreadLocal", "set", "(L" + OBJECT + ";)V");
            code.visitInsn(Opcodes.RETURN);
        });
    }

    private static void topLevel(ClassEdit edit) {
        Code.method(edit, "plumbTopLevel", "()Z", code -> {
            context(code);
            invoke(code, CONTEXT, "isTopLevel", "()Z");
            code.visitInsn(Opcodes.IRETURN);
        });
    }

    private static void pop(ClassEdit edit) {
        Code.method(edit, "plumbPop", "()V", code -> {
            context(code);
            invoke(code, CONTEXT, "popScope", "()V");
            code.visitInsn(Opcodes.RETURN);
        });
    }

    private static void root(ClassEdit edit) {
        Code.method(edit, "plumbRoot", "(" + STRING + ")L" + OBJECT + ";", code -> {
            load(code, 0);
            context(code);
            load(code, 1);
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, TRACER, "newScopeImpl", NEW_ROOT, false);
            code.visitInsn(Opcodes.ARETURN);
        });
    }

    /** Scopes of ours are hidden from it, and are there again afterwards, come what may. */
    private static void popNullScope(ClassEdit edit) {
        edit.rename("popNullScope", POP_NULL).addMethod(0, "popNullScope", "()V", code -> {
            Label start = new Label();
            Label end = new Label();
            Label thrown = new Label();
            load(code, 0);
            call(code, HOOKS, "hide", "(L" + OBJECT + ";)L" + OBJECT + ";");
            code.visitVarInsn(Opcodes.ASTORE, 1);
            code.visitTryCatchBlock(start, end, thrown, null);
            code.visitLabel(start);
            load(code, 0);
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, TRACER, POP_NULL, "()V", false);
            code.visitLabel(end);
            show(code);
            code.visitInsn(Opcodes.RETURN);
            code.visitLabel(thrown);
            code.visitFrame(Opcodes.F_NEW, 2, new Object[] {TRACER, OBJECT}, 1, new Object[] {"java/lang/Throwable"});
            show(code);
            code.visitInsn(Opcodes.ATHROW);
        });
    }

    private static void show(MethodVisitor code) {
        load(code, 0);
        load(code, 1);
        call(code, HOOKS, "show", "(L" + OBJECT + ";L" + OBJECT + ";)V");
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
    @SuppressWarnings("unused") // the call that goes
    private static void sample(MethodVisitor code, Runnable original) {
        load(code, 1);
        call(code, HOOKS, "sample", "(L" + OBJECT + ";Ljava/lang/String;)Z");
    }

    /** Object scope = HTraceHooks.ofStream(this, description); if (scope != null) return (TraceScope) scope; */
    private static void ofStream(MethodVisitor code) {
        Label usual = new Label();
        load(code, 0);
        load(code, 1);
        call(code, HOOKS, "ofStream", "(L" + OBJECT + ";Ljava/lang/String;)L" + OBJECT + ";");
        code.visitInsn(Opcodes.DUP);
        code.visitJumpInsn(Opcodes.IFNULL, usual);
        code.visitTypeInsn(Opcodes.CHECKCAST, SCOPE);
        code.visitInsn(Opcodes.ARETURN);
        code.visitLabel(usual);
        code.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] {OBJECT});
        code.visitInsn(Opcodes.POP);
    }

    private static void surface(MethodVisitor code) {
        load(code, 0);
        load(code, 1);
        call(code, HOOKS, "surface", "(L" + OBJECT + ";L" + OBJECT + ";)V");
    }
}
