package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * A method that calls a hook, then the original, which is private under another name from now on, then another hook.
 * What the hook returns decides: with null the original is called and nothing else.
 *
 * <p>Objects of these classes are sent from drivers to executors, with and without us: whatever counts for the version
 * of their serial form (all but what is private) stays as it is.
 */
final class Around {
    static final String HOOKS = "io/plumbline/trace/spark/SparkHooks";
    private static final String OBJECT = "java/lang/Object";
    private static final String THROWABLE = "java/lang/Throwable";

    /** Pushes what the hook takes, and calls it: an object is left, or null. */
    Consumer<MethodVisitor> before;
    /**
     * With the hook's object in {@link #token}, what was returned being on the stack: leaves what is to be returned.
     */
    Consumer<MethodVisitor> after;
    /** With what was thrown in {@link #result}. */
    Consumer<MethodVisitor> failed;
    /** Local variables. */
    int token;
    int result;

    private final String owner;
    private final String name;
    private final String descriptor;

    private Around(String owner, String name, String descriptor) {
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
        token = Type.getArgumentsAndReturnSizes(descriptor) >> 2;
        result = token + 1;
    }

    /** @param arguments what the descriptor begins with */
    static Around method(ClassEdit edit, String name, String arguments) throws WeaveException {
        String descriptor =
                edit.method(name, arguments, edit.name().replace('/', '.') + " has no method " + name + arguments);
        return new Around(edit.name(), name, descriptor);
    }

    /** @param access as the original has it */
    void into(ClassEdit edit, int access) {
        edit.rename(name, "plumb$" + name).addMethod(access, name, descriptor, this::body);
    }

    private void body(MethodVisitor code) {
        before.accept(code);
        code.visitVarInsn(Opcodes.ASTORE, token);
        code.visitVarInsn(Opcodes.ALOAD, token);
        Label plain = new Label();
        Label start = new Label();
        Label end = new Label();
        Label thrown = new Label();
        code.visitJumpInsn(Opcodes.IFNULL, plain);
        code.visitTryCatchBlock(start, end, thrown, null);
        code.visitLabel(start);
        original(code);
        code.visitLabel(end);
        after.accept(code);
        code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
        code.visitLabel(thrown);
        frame(code, THROWABLE);
        code.visitVarInsn(Opcodes.ASTORE, result);
        failed.accept(code);
        code.visitVarInsn(Opcodes.ALOAD, result);
        code.visitInsn(Opcodes.ATHROW);
        code.visitLabel(plain);
        frame(code);
        original(code);
        code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
    }

    private void original(MethodVisitor code) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        int local = 1;
        for (Type type : Type.getArgumentTypes(descriptor)) {
            code.visitVarInsn(type.getOpcode(Opcodes.ILOAD), local);
            local += type.getSize();
        }
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, owner, "plumb$" + name, descriptor, false);
    }

    private void frame(MethodVisitor code, Object... stack) {
        List<Object> locals = new ArrayList<>(Arrays.asList((Object) owner));
        for (Type type : Type.getArgumentTypes(descriptor)) {
            locals.add(frameType(type));
        }
        locals.add(OBJECT);
        code.visitFrame(Opcodes.F_NEW, locals.size(), locals.toArray(), stack.length, stack);
    }

    private static Object frameType(Type type) {
        switch (type.getSort()) {
            case Type.LONG:
                return Opcodes.LONG;
            case Type.DOUBLE:
                return Opcodes.DOUBLE;
            case Type.FLOAT:
                return Opcodes.FLOAT;
            case Type.OBJECT:
            case Type.ARRAY:
                return type.getInternalName();
            default:
                return Opcodes.INTEGER;
        }
    }

    /** A hook that takes and returns objects. */
    static void hook(MethodVisitor code, String name, int arguments, boolean returns) {
        StringBuilder type = new StringBuilder("(");
        for (int i = 0; i < arguments; i++) {
            type.append("Ljava/lang/Object;");
        }
        code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, type + (returns ? ")Ljava/lang/Object;" : ")V"), false);
    }

    /** SparkHooks.end(token, thrown). */
    static void end(MethodVisitor code) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "end", "(Ljava/lang/Object;Ljava/lang/Throwable;)V", false);
    }
}
