package io.plumbline.weave.code;

import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** A call in the code of a method. Immutable. */
final class Inner {
    final int opcode;
    /** As {@code java/util/List}. */
    final String owner;
    final String name;
    final String descriptor;
    private final boolean isInterface;

    Inner(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        this.opcode = opcode;
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
        this.isInterface = isInterface;
    }

    /** May a method of the same class make this call in the caller's place? */
    boolean movable() {
        return opcode != Opcodes.INVOKESPECIAL;
    }

    boolean isStatic() {
        return opcode == Opcodes.INVOKESTATIC;
    }

    /** Of the method that makes the call: what it is called on comes first. */
    private String movedDescriptor() {
        return isStatic() ? descriptor : "(" + Type.getObjectType(owner).getDescriptor() + descriptor.substring(1);
    }

    /** Calls that method instead: the operands are the same. */
    void callMoved(MethodVisitor out, Site site) {
        out.visitMethodInsn(Opcodes.INVOKESTATIC, site.self.name, site.methodName("call"), movedDescriptor(),
                site.self.isInterface());
    }

    /** Adds that method, with a span round the call. */
    void addMoved(ClassVisitor out, Site site) {
        MethodVisitor plain = out.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC,
                site.methodName("call"), movedDescriptor(), null, null);
        int slots = (Type.getArgumentsAndReturnSizes(movedDescriptor()) >> 2) - 1;
        MethodVisitor code = new SpanAdapter(plain, site, slots, null);
        code.visitCode();
        int slot = 0;
        for (Type type : Type.getArgumentTypes(movedDescriptor())) {
            Emit.load(code, type, slot);
            slot += type.getSize();
        }
        code.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
        code.visitMaxs(0, 0);
        code.visitEnd();
    }

    boolean same(Inner other) {
        return same(other.opcode, other.owner, other.name, other.descriptor);
    }

    boolean same(int otherOpcode, String otherOwner, String otherName, String otherDescriptor) {
        return opcode == otherOpcode && owner.equals(otherOwner) && name.equals(otherName)
                && descriptor.equals(otherDescriptor);
    }
}
