package io.plumbline.weave.htrace;

import io.plumbline.weave.classes.ClassEdit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * Straight-line instructions, put into methods or making up whole ones. Types are named, not loaded: the agent has no
 * HTrace.
 */
final class Code {
    static final int ASM = Opcodes.ASM9;
    static final String HOOKS = "io/plumbline/trace/htrace/HTraceHooks";
    static final String TIMES = "io/plumbline/trace/htrace/SpanTimes";
    static final String TRACER = "org/apache/htrace/core/Tracer";
    static final String SCOPE = "org/apache/htrace/core/TraceScope";
    static final String OBJECT = "java/lang/Object";
    static final String STRING = "Ljava/lang/String;";

    private Code() {
    }

    /** Adds a field, and the methods of an interface of ours that read and write it. */
    static ClassEdit property(ClassEdit edit, String name, String type) {
        String owner = edit.name();
        return method(method(edit.addField(name, type), name, "()" + type, code -> {
            load(code, 0);
            field(code, owner, name, type);
            code.visitInsn(Type.getType(type).getOpcode(Opcodes.IRETURN));
        }), name, "(" + type + ")V", code -> {
            load(code, 0);
            code.visitVarInsn(Type.getType(type).getOpcode(Opcodes.ILOAD), 1);
            code.visitFieldInsn(Opcodes.PUTFIELD, owner, name, type);
            code.visitInsn(Opcodes.RETURN);
        });
    }

    /** Adds a public method of an interface of ours. */
    static ClassEdit method(ClassEdit edit, String name, String descriptor, Consumer<MethodVisitor> body) {
        return edit.addMethod(Opcodes.ACC_PUBLIC, name, descriptor, body);
    }

    /** Instructions written at the begin of a method. */
    static ClassEdit.Change first(Consumer<MethodVisitor> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                writer.accept(mv);
            }
        };
    }

    /** Instructions written before each return. */
    static ClassEdit.Change last(Consumer<MethodVisitor> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                    writer.accept(mv);
                }
                super.visitInsn(opcode);
            }
        };
    }

    /**
     * At each call of a method.
     *
     * @param writer gets the visitor and what writes the call itself
     */
    static ClassEdit.Change atCall(String owner, String name, BiConsumer<MethodVisitor, Runnable> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitMethodInsn(int opcode, String o, String n, String descriptor, boolean onInterface) {
                Runnable call = () -> super.visitMethodInsn(opcode, o, n, descriptor, onInterface);
                if (o.equals(owner) && n.equals(name)) {
                    writer.accept(mv, call);
                } else {
                    call.run();
                }
            }
        };
    }

    static void load(MethodVisitor code, int local) {
        code.visitVarInsn(Opcodes.ALOAD, local);
    }

    static void call(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, owner, name, descriptor, false);
    }

    static void invoke(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, owner, name, descriptor, false);
    }

    static void field(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitFieldInsn(Opcodes.GETFIELD, owner, name, descriptor);
    }
}
