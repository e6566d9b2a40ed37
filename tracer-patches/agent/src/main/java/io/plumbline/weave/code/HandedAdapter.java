package io.plumbline.weave.code;

import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** What one call in a method's code is handed last, a Runnable or Callable, takes the current span along. */
final class HandedAdapter extends MethodVisitor {
    private final Inner inner;
    private final Site site;

    HandedAdapter(MethodVisitor out, Inner inner, Site site) {
        super(Opcodes.ASM9, out);
        this.inner = inner;
        this.site = site;
    }

    /** What such a call is handed; null when that is neither of both. */
    static Type work(String descriptor) {
        Type[] arguments = Type.getArgumentTypes(descriptor);
        Type last = arguments.length == 0 ? Type.VOID_TYPE : arguments[arguments.length - 1];
        return Plan.isWork(last) ? last : null;
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        if (inner.same(opcode, owner, name, descriptor)) {
            site.point(mv);
            Emit.hook(mv, "carry", "(OP)O");
            mv.visitTypeInsn(Opcodes.CHECKCAST, work(descriptor).getInternalName());
        }
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }
}
