package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * What applications call themselves to the NameNode (Spark: SPARK_TASK_...), recorded with the RPC's span on both sides
 * as {@code callerContext}: it leads from a call to a task also where the client is not traced as one.
 */
public final class CallerContexts implements Patch {
    private static final String CALL = "org.apache.hadoop.ipc.Server$Call";
    private static final Set<String> CLASSES = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(
            CALL, "org.apache.hadoop.ipc.ProtobufRpcEngine$Invoker",
            "org.apache.hadoop.ipc.ProtobufRpcEngine2$Invoker")));

    private static final String CONTEXT = "org/apache/hadoop/ipc/CallerContext";
    private static final String HOOKS = "io/plumbline/trace/Hooks";
    private static final String RECORD = "plumb$caller";
    /** Where a span comes as such: in Hadoop 2.8 to 3.3.1, and later. */
    private static final Set<String> SCOPES = new HashSet<>(Arrays.asList(
            "org/apache/htrace/core/TraceScope", "org/apache/hadoop/tracing/TraceScope"));
    private static final String SPAN = "org/apache/hadoop/tracing/Span";

    @Override
    public Set<String> classes() {
        return CLASSES;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        return className.equals(CALL) ? server(edit) : client(edit);
    }

    /** Right after the call's scope was opened: plumb$caller(scope, CallerContext.getCurrent()). */
    private static byte[] client(ClassEdit edit) throws WeaveException {
        String invoke = edit.method("invoke", "(Ljava/lang/Object;Ljava/lang/reflect/Method;", "it has no invoke");
        String[] opened = new String[1];
        edit.in("invoke", invoke, next -> new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean onInterface) {
                super.visitMethodInsn(opcode, owner, name, descriptor, onInterface);
                String scope = Type.getReturnType(descriptor).getInternalName();
                if (name.equals("newScope") && SCOPES.contains(scope)) {
                    opened[0] = scope;
                    mv.visitInsn(Opcodes.DUP);
                    mv.visitMethodInsn(Opcodes.INVOKESTATIC, CONTEXT, "getCurrent", "()L" + CONTEXT + ";", false);
                    mv.visitMethodInsn(Opcodes.INVOKESTATIC, edit.name(), RECORD, type(scope), false);
                }
            }
        });
        edit.bytes(); // to see which scope it opens
        if (opened[0] == null) {
            throw new WeaveException("this version of the class opens no span");
        }
        return record(edit, opened[0]).bytes();
    }

    /** At the end of the constructor that takes a span and a context: plumb$caller(span, context). */
    private static byte[] server(ClassEdit edit) throws WeaveException {
        String constructor = edit.longest("<init>");
        int local = 1;
        int span = -1;
        int context = -1;
        String scope = null;
        for (Type argument : Type.getArgumentTypes(constructor)) {
            String name = argument.getInternalName();
            if (name.equals(SPAN) || SCOPES.contains(name)) {
                span = local;
                scope = name;
            }
            context = name.equals(CONTEXT) ? local : context;
            local += argument.getSize();
        }
        if (span < 0 || context < 0) {
            throw new WeaveException("this version's calls have no span, or no caller's context");
        }
        String type = type(scope);
        int spanAt = span;
        int contextAt = context;
        edit.in("<init>", constructor, next -> new MethodVisitor(Opcodes.ASM9, next) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.RETURN) {
                    mv.visitVarInsn(Opcodes.ALOAD, spanAt);
                    mv.visitVarInsn(Opcodes.ALOAD, contextAt);
                    mv.visitMethodInsn(Opcodes.INVOKESTATIC, edit.name(), RECORD, type, false);
                }
                super.visitInsn(opcode);
            }
        });
        return record(edit, scope).bytes();
    }

    private static String type(String scope) {
        return "(L" + scope + ";L" + CONTEXT + ";)V";
    }

    /** The method: what it cannot record is counted, and the call goes on. */
    private static ClassEdit record(ClassEdit edit, String scope) {
        return edit.addMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, RECORD, type(scope), code -> {
            Object[] locals = {scope, CONTEXT};
            Label start = new Label();
            Label end = new Label();
            Label failed = new Label();
            Label done = new Label();
            code.visitTryCatchBlock(start, end, failed, "java/lang/Throwable");
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitJumpInsn(Opcodes.IFNULL, done);
            code.visitVarInsn(Opcodes.ALOAD, 1);
            code.visitJumpInsn(Opcodes.IFNULL, done);
            code.visitLabel(start);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitLdcInsn("callerContext");
            code.visitVarInsn(Opcodes.ALOAD, 1);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, CONTEXT, "getContext", "()Ljava/lang/String;", false);
            annotate(code, scope);
            code.visitLabel(end);
            code.visitJumpInsn(Opcodes.GOTO, done);
            code.visitLabel(failed);
            code.visitFrame(Opcodes.F_NEW, 2, locals, 1, new Object[] {"java/lang/Throwable"});
            code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "unreadable", "(Ljava/lang/Throwable;)Ljava/lang/Object;",
                    false);
            code.visitInsn(Opcodes.POP);
            code.visitLabel(done);
            code.visitFrame(Opcodes.F_NEW, 2, locals, 0, new Object[0]);
            code.visitInsn(Opcodes.RETURN);
        });
    }

    /** A Span returns itself, a TraceScope nothing. */
    private static void annotate(MethodVisitor code, String scope) {
        boolean returns = scope.equals(SPAN);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, scope, "addKVAnnotation",
                "(Ljava/lang/String;Ljava/lang/String;)" + (returns ? "L" + SPAN + ";" : "V"), false);
        if (returns) {
            code.visitInsn(Opcodes.POP);
        }
    }
}
