package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * The client's output stream: one that was opened where no span was going on is a trace of its own. It keeps what the
 * engine made of it, its scopes begin below that, and its end is that of the trace. Scopes that may wait say whose they
 * are.
 */
public final class OutputStreams implements Patch {
    static final String HOOKS = "io/plumbline/trace/StreamHooks";
    private static final String STREAM = "org.apache.hadoop.hdfs.DFSOutputStream";
    private static final String CLIENT = "org/apache/hadoop/hdfs/DFSClient";
    private static final String THROWABLE = "java/lang/Throwable";
    private static final String STRING = "java/lang/String";
    private static final String FIELD = "plumb$stream";
    private static final String TYPE = "Ljava/lang/Object;";
    private static final String CLOSE = "plumb$close";
    private static final String SCOPE = "plumb$scope";
    private static final String OPENER = "newPathTraceScope";

    @Override
    public Set<String> classes() {
        return Collections.singleton(STREAM);
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        edit.needField("fileId", "J");
        edit.needMethod("close", "()V");
        edit.needMethod("abort", "()V");
        String scope = edit.method("createWriteTraceScope", "()", "this version's writes open no scope").substring(2);
        edit.addField(FIELD, TYPE)
                .in("<init>", null, next -> new Last(next, code -> opened(code, edit.name())))
                .in("abort", "()V", next -> new Last(next, code -> {
                    stream(code, edit.name(), 0);
                    code.visitInsn(Opcodes.ACONST_NULL);
                    hook(code, "closed", "(" + TYPE + "L" + THROWABLE + ";)V");
                }))
                .in("createWriteTraceScope", null, next -> new Scopes(next, edit.name(), scope, false))
                .in("hflush", null, next -> new Scopes(next, edit.name(), scope, true))
                .in("hsync", null, next -> new Scopes(next, edit.name(), scope, true))
                .in("close", "()V", next -> new Scopes(next, edit.name(), scope, true))
                .addMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, SCOPE, descriptor(edit.name(), scope),
                        code -> scope(code, edit.name(), scope))
                .rename("close", CLOSE)
                .addMethod(Opcodes.ACC_PUBLIC, "close", "()V", code -> close(code, edit.name()));
        return edit.bytes();
    }

    private static String descriptor(String owner, String scope) {
        return "(L" + CLIENT + ";L" + STRING + ";L" + STRING + ";L" + owner + ";)" + scope;
    }

    private static void stream(MethodVisitor code, String owner, int local) {
        code.visitVarInsn(Opcodes.ALOAD, local);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, FIELD, TYPE);
    }

    static void hook(MethodVisitor code, String name, String descriptor) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
    }

    private static void number(MethodVisitor code, String owner) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, "fileId", "J");
    }

    /** this.plumb$stream = StreamHooks.opened(this.plumb$stream, this.fileId) */
    private static void opened(MethodVisitor code, String owner) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        stream(code, owner, 0);
        number(code, owner);
        hook(code, "opened", "(" + TYPE + "J)" + TYPE);
        code.visitFieldInsn(Opcodes.PUTFIELD, owner, FIELD, TYPE);
    }

    /** newPathTraceScope(...), within the stream if that is a trace of its own. */
    private static void scope(MethodVisitor code, String owner, String scope) {
        Object[] locals = {CLIENT, STRING, STRING, owner};
        Label own = new Label();
        Label start = new Label();
        Label end = new Label();
        Label thrown = new Label();
        stream(code, owner, 3);
        code.visitJumpInsn(Opcodes.IFNONNULL, own);
        open(code, scope);
        code.visitInsn(Opcodes.ARETURN);

        code.visitLabel(own);
        code.visitFrame(Opcodes.F_NEW, locals.length, locals, 0, new Object[0]);
        stream(code, owner, 3);
        hook(code, "within", "(" + TYPE + ")V");
        code.visitTryCatchBlock(start, end, thrown, null);
        code.visitLabel(start);
        open(code, scope);
        code.visitLabel(end);
        outside(code);
        code.visitInsn(Opcodes.ARETURN);

        code.visitLabel(thrown);
        code.visitFrame(Opcodes.F_NEW, locals.length, locals, 1, new Object[] {THROWABLE});
        outside(code);
        code.visitInsn(Opcodes.ATHROW);
    }

    private static void open(MethodVisitor code, String scope) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitVarInsn(Opcodes.ALOAD, 2);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, CLIENT, OPENER, "(L" + STRING + ";L" + STRING + ";)" + scope,
                false);
    }

    private static void outside(MethodVisitor code) {
        code.visitInsn(Opcodes.ACONST_NULL);
        hook(code, "within", "(" + TYPE + ")V");
    }

    /** What close() did; then StreamHooks.closed(this.plumb$stream, what was thrown). */
    private static void close(MethodVisitor code, String owner) {
        Label start = new Label();
        Label end = new Label();
        Label thrown = new Label();
        code.visitTryCatchBlock(start, end, thrown, null);
        code.visitLabel(start);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, owner, CLOSE, "()V", false);
        code.visitLabel(end);
        stream(code, owner, 0);
        code.visitInsn(Opcodes.ACONST_NULL);
        hook(code, "closed", "(" + TYPE + "L" + THROWABLE + ";)V");
        code.visitInsn(Opcodes.RETURN);

        code.visitLabel(thrown);
        code.visitFrame(Opcodes.F_NEW, 1, new Object[] {owner}, 1, new Object[] {THROWABLE});
        code.visitVarInsn(Opcodes.ASTORE, 1);
        stream(code, owner, 0);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        hook(code, "closed", "(" + TYPE + "L" + THROWABLE + ";)V");
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitInsn(Opcodes.ATHROW);
    }

    /** Straight-line instructions. */
    interface Code {
        void write(MethodVisitor code);
    }

    /** Writes something before each return. */
    private static final class Last extends MethodVisitor {
        private final Code code;

        Last(MethodVisitor next, Code code) {
            super(Opcodes.ASM9, next);
            this.code = code;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN) {
                code.write(mv);
            }
            super.visitInsn(opcode);
        }
    }

    /** Opens scopes by {@link #SCOPE}, and says whose they are where they may wait. */
    private static final class Scopes extends MethodVisitor {
        private final String owner;
        private final String scope;
        private final boolean waits;

        Scopes(MethodVisitor next, String owner, String scope, boolean waits) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.scope = scope;
            this.waits = waits;
        }

        @Override
        public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
            if (!of.equals(CLIENT) || !name.equals(OPENER)) {
                super.visitMethodInsn(opcode, of, name, descriptor, isInterface);
                return;
            }
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, owner, SCOPE, OutputStreams.descriptor(owner, scope), false);
            if (waits) {
                number(mv, owner);
                hook(mv, "of", "(J)V");
            }
        }
    }
}
