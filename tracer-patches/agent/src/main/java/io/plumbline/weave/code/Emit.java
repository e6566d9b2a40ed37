package io.plumbline.weave.code;

import io.plumbline.weave.list.Function;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** Instructions that woven code is made of. */
final class Emit {
    static final String OBJECT = "java/lang/Object";
    static final String THROWABLE = "java/lang/Throwable";
    static final String SPAN_REF = "io/plumbline/trace/SpanRef";
    static final String BOOTSTRAP = "io/plumbline/trace/PointBootstrap";
    private static final String HOOKS = "io/plumbline/trace/Hooks";
    private static final String POINT = "Lio/plumbline/trace/Point;";
    private static final String LINK = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
            + "Ljava/lang/invoke/MethodType;Ljava/lang/String;Ljava/lang/String;ILjava/lang/String;Ljava/lang/String;)"
            + "Ljava/lang/invoke/CallSite;";

    private Emit() {
    }

    /** Descriptor pieces: P is Point, O is Object, T is Throwable, S is SpanRef; the others are their own. */
    static void hook(MethodVisitor out, String name, String shortDescriptor) {
        StringBuilder descriptor = new StringBuilder();
        for (char c : shortDescriptor.toCharArray()) {
            switch (c) {
                case 'P':
                    descriptor.append(POINT);
                    break;
                case 'O':
                    descriptor.append("Ljava/lang/Object;");
                    break;
                case 'T':
                    descriptor.append("Ljava/lang/Throwable;");
                    break;
                case 'S':
                    descriptor.append('L').append(SPAN_REF).append(';');
                    break;
                default:
                    descriptor.append(c);
            }
        }
        out.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor.toString(), false);
    }

    /** Pushes the point, a constant. */
    static void point(MethodVisitor out, Function function, String enterKeys, String exitKeys) {
        Handle link = new Handle(Opcodes.H_INVOKESTATIC, BOOTSTRAP, "link", LINK, false);
        out.visitInvokeDynamicInsn("point", "()" + POINT, link, function.span, function.role, function.flags, enterKeys,
                exitKeys);
    }

    static void load(MethodVisitor out, Type type, int slot) {
        out.visitVarInsn(type.getOpcode(Opcodes.ILOAD), slot);
    }

    static void store(MethodVisitor out, Type type, int slot) {
        out.visitVarInsn(type.getOpcode(Opcodes.ISTORE), slot);
    }

    /** Pushes zero or null. */
    static void nothing(MethodVisitor out, Type type) {
        switch (type.getSort()) {
            case Type.LONG:
                out.visitInsn(Opcodes.LCONST_0);
                break;
            case Type.FLOAT:
                out.visitInsn(Opcodes.FCONST_0);
                break;
            case Type.DOUBLE:
                out.visitInsn(Opcodes.DCONST_0);
                break;
            case Type.ARRAY:
            case Type.OBJECT:
                out.visitInsn(Opcodes.ACONST_NULL);
                break;
            default:
                out.visitInsn(Opcodes.ICONST_0);
        }
    }

    /** A primitive on the stack becomes an object: integers of up to 32 bits an Integer. */
    static void box(MethodVisitor out, Type type) {
        switch (type.getSort()) {
            case Type.BOOLEAN:
                valueOf(out, "java/lang/Boolean", "Z");
                break;
            case Type.CHAR:
                valueOf(out, "java/lang/Character", "C");
                break;
            case Type.BYTE:
            case Type.SHORT:
            case Type.INT:
                valueOf(out, "java/lang/Integer", "I");
                break;
            case Type.LONG:
                valueOf(out, "java/lang/Long", "J");
                break;
            case Type.FLOAT:
                valueOf(out, "java/lang/Float", "F");
                break;
            case Type.DOUBLE:
                valueOf(out, "java/lang/Double", "D");
                break;
            default:
                break;
        }
    }

    private static void valueOf(MethodVisitor out, String box, String primitive) {
        out.visitMethodInsn(Opcodes.INVOKESTATIC, box, "valueOf", "(" + primitive + ")L" + box + ";", false);
    }

    /** As frames name the type of a local variable. */
    static Object frameType(Type type) {
        switch (type.getSort()) {
            case Type.BOOLEAN:
            case Type.CHAR:
            case Type.BYTE:
            case Type.SHORT:
            case Type.INT:
                return Opcodes.INTEGER;
            case Type.LONG:
                return Opcodes.LONG;
            case Type.FLOAT:
                return Opcodes.FLOAT;
            case Type.DOUBLE:
                return Opcodes.DOUBLE;
            default:
                return type.getInternalName();
        }
    }

    /** A frame with these variables and this stack. */
    static void frame(MethodVisitor out, Object[] locals, Object... stack) {
        out.visitFrame(Opcodes.F_NEW, locals.length, locals, stack.length, stack);
    }
}
