package io.plumbline.weave.code;

import io.plumbline.weave.classes.ClassInfo;
import io.plumbline.weave.classes.ClassPath;
import io.plumbline.weave.classes.WeaveException;
import io.plumbline.weave.list.Expression;
import io.plumbline.weave.list.Value;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** A value whose every step is known: it can be written as instructions. Immutable. */
final class CompiledValue {
    /** {@code this} or an argument, as its place among the method's local variables; or one of the next two. */
    static final int RESULT = -1;
    static final int TEXT = -2;

    /** One instruction of a chain. */
    private static final class Access {
        final ClassInfo.Member member;
        /** Through which it is reached; null for the length of an array. */
        final ClassInfo receiver;

        Access(ClassInfo.Member member, ClassInfo receiver) {
            this.member = member;
            this.receiver = receiver;
        }
    }

    final String key;
    /** A local variable's place, RESULT or TEXT. */
    final int source;
    /** Of the source. */
    final Type root;
    /** What is taken from it, and then added; null for nothing. */
    final CompiledValue minus;
    final int plus;
    private final String literal;
    private final List<Access> chain = new ArrayList<>();
    private Type type;

    private CompiledValue(Value value, int source, Type root, CompiledValue minus) {
        this.key = value.key;
        this.source = source;
        this.root = root;
        this.literal = value.expression.literal;
        this.minus = minus;
        this.plus = value.plus;
        this.type = root;
    }

    /** @throws WeaveException saying why the value is not available in this version of the class */
    static CompiledValue compile(Value value, ClassInfo self, ClassInfo.Member method, ClassPath path)
            throws WeaveException {
        CompiledValue minus = value.minus == null ? null
                : compile(new Value(value.key, value.minus, null, 0, value.atReturn), self, method, path);
        CompiledValue compiled = source(value, minus, self, method);
        for (Expression.Step step : value.expression.steps) {
            compiled.follow(step, self, path);
        }
        if (compiled.type.getSort() == Type.ARRAY) {
            throw new WeaveException("is an array; its .length can be recorded");
        }
        if (minus != null && !(compiled.isWhole() && minus.isWhole())) {
            throw new WeaveException("is no difference of whole numbers");
        }
        return compiled;
    }

    private boolean isWhole() {
        return type.equals(Type.INT_TYPE) || type.equals(Type.LONG_TYPE);
    }

    private static CompiledValue source(Value value, CompiledValue minus, ClassInfo self, ClassInfo.Member method)
            throws WeaveException {
        Expression expression = value.expression;
        boolean isStatic = method.is(Opcodes.ACC_STATIC);
        switch (expression.start) {
            case TEXT:
                return new CompiledValue(value, TEXT, Type.getObjectType("java/lang/String"), minus);
            case THIS:
                if (isStatic) {
                    throw new WeaveException("the method is static, there is no \"this\"");
                }
                return new CompiledValue(value, 0, Type.getObjectType(self.name), minus);
            case RETURN:
                if (method.descriptor.endsWith(")V")) {
                    throw new WeaveException("the method returns nothing");
                }
                return new CompiledValue(value, RESULT, Type.getReturnType(method.descriptor), minus);
            default:
                return argument(value, minus, method, isStatic ? 0 : 1);
        }
    }

    private static CompiledValue argument(Value value, CompiledValue minus, ClassInfo.Member method, int firstSlot)
            throws WeaveException {
        Type[] types = Type.getArgumentTypes(method.descriptor);
        int wanted = value.expression.argument;
        if (wanted >= types.length) {
            throw new WeaveException("the method has " + types.length + " argument" + (types.length == 1 ? "" : "s"));
        }
        int slot = firstSlot;
        for (int i = 0; i < wanted; i++) {
            slot += types[i].getSize();
        }
        return new CompiledValue(value, slot, types[wanted], minus);
    }

    private void follow(Expression.Step step, ClassInfo self, ClassPath path) throws WeaveException {
        if (type.getSort() == Type.ARRAY && step.name.equals("length") && !step.call) {
            chain.add(new Access(null, null));
            type = Type.INT_TYPE;
            return;
        }
        if (type.getSort() != Type.OBJECT) {
            throw new WeaveException(type.getClassName() + " has no " + step);
        }
        ClassInfo receiver = path.find(type.getInternalName());
        ClassInfo.Member member = path.member(self, type.getInternalName(), step);
        chain.add(new Access(member, receiver));
        type = step.call ? Type.getReturnType(member.descriptor) : Type.getType(member.descriptor);
    }

    /** Does it, or what is taken from it, begin with the result? */
    boolean usesResult() {
        return source == RESULT || minus != null && minus.usesResult();
    }

    /** Does it need a method of its own, which null and exceptions do not leave? */
    boolean needsMethod() {
        return !chain.isEmpty();
    }

    /** Of that method. */
    String methodDescriptor() {
        return "(" + root.getDescriptor() + ")Ljava/lang/Object;";
    }

    /** Without a method: what is on the stack (for a text: nothing) becomes an object. */
    void push(MethodVisitor out) {
        if (source == TEXT) {
            out.visitLdcInsn(literal);
        } else {
            Emit.box(out, root);
        }
    }

    /** The body of the method. */
    void body(MethodVisitor out) {
        Object[] locals = {Emit.frameType(root)};
        int step = root.getSize();
        Label start = new Label();
        Label end = new Label();
        Label caught = new Label();
        Label nothing = new Label();
        out.visitCode();
        out.visitTryCatchBlock(start, end, caught, Emit.THROWABLE);
        out.visitLabel(start);
        Emit.load(out, root, 0);
        for (int i = 0; i < chain.size(); i++) {
            int slot = i == 0 ? 0 : step;
            if (i > 0) {
                out.visitVarInsn(Opcodes.ASTORE, slot);
                out.visitVarInsn(Opcodes.ALOAD, slot);
            }
            out.visitJumpInsn(Opcodes.IFNULL, nothing);
            out.visitVarInsn(Opcodes.ALOAD, slot);
            access(out, chain.get(i));
        }
        Emit.box(out, type);
        out.visitInsn(Opcodes.ARETURN);
        out.visitLabel(end);
        out.visitLabel(nothing);
        Emit.frame(out, locals);
        out.visitInsn(Opcodes.ACONST_NULL);
        out.visitInsn(Opcodes.ARETURN);
        out.visitLabel(caught);
        Emit.frame(out, locals, Emit.THROWABLE);
        Emit.hook(out, "unreadable", "(T)O");
        out.visitInsn(Opcodes.ARETURN);
        out.visitMaxs(0, 0);
        out.visitEnd();
    }

    private static void access(MethodVisitor out, Access access) {
        ClassInfo.Member member = access.member;
        if (member == null) {
            out.visitInsn(Opcodes.ARRAYLENGTH);
            return;
        }
        boolean isPrivate = member.is(Opcodes.ACC_PRIVATE);
        ClassInfo through = isPrivate ? member.owner : access.receiver;
        if (!member.descriptor.startsWith("(")) {
            out.visitFieldInsn(Opcodes.GETFIELD, through.name, member.name, member.descriptor);
            return;
        }
        int opcode = isPrivate ? Opcodes.INVOKESPECIAL
                : through.isInterface() ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL;
        out.visitMethodInsn(opcode, through.name, member.name, member.descriptor, through.isInterface());
    }
}
