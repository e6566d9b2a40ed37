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

/**
 * The NameNode's edit log where it is written and synced by a thread of its own ({@code FSEditLogAsync}). The span of
 * an edit lasts from when a call hands it in until that thread sends the call's answer, and the sync of that thread
 * lies below the first edit that it is for.
 */
public final class EditSyncs implements Patch {
    private static final String LOG = "org.apache.hadoop.hdfs.server.namenode.FSEditLogAsync";
    private static final String EDIT = LOG + "$RpcEdit";
    private static final String EVERY_EDIT = LOG + "$Edit";
    private static final String SYNCS = "org.apache.hadoop.hdfs.server.namenode.FSEditLog";
    private static final String HOOKS = "io/plumbline/trace/SyncHooks";
    private static final String FIELD = "plumb$since";
    private static final String OBJECT = "Ljava/lang/Object;";
    private static final Set<String> CLASSES = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(LOG, EDIT)));

    @Override
    public Set<String> classes() {
        return CLASSES;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        if (className.equals(LOG)) {
            needSuper(edit, files.need(SYNCS), "logSync", "(J)V");
            return log(edit);
        }
        needSuper(edit, files.need(EVERY_EDIT), "logEdit", "()Z");
        return edit(edit);
    }

    /** What is added calls what it takes the place of. */
    private static void needSuper(ClassEdit edit, byte[] parent, String name, String descriptor) throws WeaveException {
        edit.needNoMethod(name, descriptor);
        new ClassEdit(parent).needMethod(name, descriptor);
    }

    private static byte[] edit(ClassEdit edit) throws WeaveException {
        String done = edit.method("logSyncNotify", "(", "this version's edits have no logSyncNotify");
        return edit.addField(FIELD, OBJECT)
                .in("<init>", null, next -> new Made(next, edit.name()))
                .in("logSyncNotify", done, next -> new Done(next, edit.name()))
                .addMethod(0, "logEdit", "()Z", code -> {
                    since(code, edit.name());
                    code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "takes", "(" + OBJECT + ")V", false);
                    code.visitVarInsn(Opcodes.ALOAD, 0);
                    code.visitMethodInsn(Opcodes.INVOKESPECIAL, EVERY_EDIT.replace('.', '/'), "logEdit", "()Z", false);
                    code.visitInsn(Opcodes.IRETURN);
                })
                .bytes();
    }

    private static byte[] log(ClassEdit edit) throws WeaveException {
        edit.needMethod("run", "()V");
        edit.needField("syncWaitQ", "Ljava/util/Deque;");
        return edit.addMethod(Opcodes.ACC_PROTECTED, "logSync", "(J)V", code -> sync(code, edit.name())).bytes();
    }

    /** Object token = begin(); try { super.logSync(id); } finally { Hooks.finish(thrown, token); } */
    private static void sync(MethodVisitor code, String owner) {
        final int token = 3;
        Label start = new Label();
        Label end = new Label();
        Label thrown = new Label();
        code.visitTryCatchBlock(start, end, thrown, null);
        code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "begin", "()" + OBJECT, false);
        code.visitVarInsn(Opcodes.ASTORE, token);
        code.visitLabel(start);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitVarInsn(Opcodes.LLOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, SYNCS.replace('.', '/'), "logSync", "(J)V", false);
        code.visitLabel(end);
        code.visitInsn(Opcodes.ACONST_NULL);
        finish(code, token);
        code.visitInsn(Opcodes.RETURN);
        code.visitLabel(thrown);
        Object[] locals = {owner, Opcodes.LONG, "java/lang/Object"};
        code.visitFrame(Opcodes.F_NEW, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
        code.visitInsn(Opcodes.DUP);
        finish(code, token);
        code.visitInsn(Opcodes.ATHROW);
    }

    private static void finish(MethodVisitor code, int token) {
        code.visitVarInsn(Opcodes.ALOAD, token);
        code.visitMethodInsn(Opcodes.INVOKESTATIC, "io/plumbline/trace/Hooks", "finish",
                "(Ljava/lang/Throwable;" + OBJECT + ")V", false);
    }

    private static void since(MethodVisitor code, String owner) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, FIELD, OBJECT);
    }

    /** Last of all: this.since = Hooks.since(). */
    private static final class Made extends MethodVisitor {
        private final String owner;

        Made(MethodVisitor next, String owner) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "io/plumbline/trace/Hooks", "since", "()" + OBJECT, false);
                super.visitFieldInsn(Opcodes.PUTFIELD, owner, FIELD, OBJECT);
            }
            super.visitInsn(opcode);
        }
    }

    /** First of all: SyncHooks.done(this.since). */
    private static final class Done extends MethodVisitor {
        private final String owner;

        Done(MethodVisitor next, String owner) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            since(mv, owner);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "done", "(" + OBJECT + ")V", false);
        }
    }
}
