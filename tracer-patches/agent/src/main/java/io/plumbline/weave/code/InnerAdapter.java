package io.plumbline.weave.code;

import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** One call in a method's code gets a span. */
final class InnerAdapter extends MethodVisitor {
    private final Inner inner;
    private final Site site;

    InnerAdapter(MethodVisitor out, Inner inner, Site site) {
        super(Opcodes.ASM9, out);
        this.inner = inner;
        this.site = site;
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        if (inner.same(opcode, owner, name, descriptor)) {
            inner.callMoved(mv, site);
        } else {
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }
    }
}
