package io.plumbline.weave.code;

import io.plumbline.weave.list.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * Adds code where a method begins and before each return. A constructor begins after super(...): before that there is
 * no object. Variables of its own come after the method's; every frame says so.
 */
abstract class CodeAdapter extends MethodVisitor {
    private final boolean constructor;
    private final int firstOwn;
    private final List<Object> own = new ArrayList<>();
    private int ownSlots;
    private boolean begun;
    private int pendingNew;

    /** @param firstOwn the first local variable that neither the method nor an adapter inside this one uses */
    CodeAdapter(MethodVisitor out, boolean constructor, int firstOwn) {
        super(Opcodes.ASM9, out);
        this.constructor = constructor;
        this.firstOwn = firstOwn;
    }

    /** A variable of its own, assigned in {@link #enter}. Only in a constructor of an adapter. */
    final int variable(Type type) {
        own.add(Emit.frameType(type));
        ownSlots += type.getSize();
        return firstOwn + ownSlots - type.getSize();
    }

    /** The first local variable that comes after its own. */
    final int nextVariable() {
        return firstOwn + ownSlots;
    }

    /** Writes what comes first. */
    abstract void enter();

    /** Writes what comes before a return; its operand is on the stack. */
    abstract void leave(int opcode);

    /** After a return. */
    void left() {
    }

    @Override
    public void visitCode() {
        super.visitCode();
        if (!constructor) {
            begin();
        }
    }

    private void begin() {
        begun = true;
        enter();
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        super.visitTypeInsn(opcode, type);
        pendingNew += opcode == Opcodes.NEW ? 1 : 0;
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        if (!begun && name.equals(Signature.CONSTRUCTOR) && --pendingNew < 0) {
            begin();
        }
    }

    @Override
    public void visitInsn(int opcode) {
        boolean returns = opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN;
        if (returns) {
            leave(opcode);
        }
        super.visitInsn(opcode);
        if (returns) {
            left();
        }
    }

    @Override
    public void visitFrame(int type, int localCount, Object[] locals, int stackCount, Object[] stack) {
        List<Object> used = Arrays.asList(locals).subList(0, localCount);
        if (own.isEmpty() || used.contains(Opcodes.UNINITIALIZED_THIS)) {
            super.visitFrame(type, localCount, locals, stackCount, stack);
            return;
        }
        Object[] all = withOwn(used);
        super.visitFrame(type, all.length, all, stackCount, stack);
    }

    /** The variables at a place where nothing is known of the method's own. */
    final Object[] ownOnly() {
        return withOwn(new ArrayList<>());
    }

    private Object[] withOwn(List<Object> used) {
        List<Object> all = new ArrayList<>(used);
        int slots = used.size();
        for (Object local : used) {
            slots += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 1 : 0;
        }
        for (; slots < firstOwn; slots++) {
            all.add(Opcodes.TOP);
        }
        all.addAll(own);
        return all.toArray();
    }
}
