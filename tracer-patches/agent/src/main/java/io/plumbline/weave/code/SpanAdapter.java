package io.plumbline.weave.code;

import io.plumbline.trace.Point;
import io.plumbline.weave.list.Signature;
import java.util.SortedMap;
import java.util.TreeMap;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * A span from the call to the return or exception. The application's exceptions pass through a handler round the whole
 * method; returns and the code added for them are outside of it, so that a span ends once.
 */
final class SpanAdapter extends CodeAdapter {
    private static final Type TOKEN = Type.getObjectType(Emit.OBJECT);

    private final Site site;
    /** Not null: the span goes on below the one in this field of {@code this}. */
    private final String carried;
    private final int token;
    /**
     * What values at the return begin with, kept aside: the method may use its arguments' places for something else.
     */
    private final SortedMap<Integer, Integer> kept = new TreeMap<>();
    private final SortedMap<Integer, Type> exitSources;
    private final Label handler = new Label();
    private Label start;
    private boolean guarded;

    SpanAdapter(MethodVisitor out, Site site, int firstOwn, String carried) {
        super(out, site.method.name.equals(Signature.CONSTRUCTOR), firstOwn);
        this.site = site;
        this.carried = carried;
        this.token = variable(TOKEN);
        this.exitSources = Site.sources(site.exit);
        exitSources.forEach((place, type) -> kept.put(place, variable(type)));
    }

    @Override
    void enter() {
        exitSources.forEach((place, type) -> {
            Emit.load(mv, type, place);
            Emit.store(mv, type, kept.get(place));
        });
        if (carried != null) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
            mv.visitFieldInsn(Opcodes.GETFIELD, site.self.name, carried, "L" + Emit.SPAN_REF + ";");
        }
        boolean follows = (site.function.flags & Point.FOLLOWS) != 0 && !site.isStatic();
        if (follows) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
        }
        site.point(mv);
        if (carried == null) {
            Emit.hook(mv, follows ? "beginRead" : "begin", follows ? "(OP)O" : "(P)O");
        } else {
            Emit.hook(mv, "beginBelow", "(SP)O");
        }
        mv.visitVarInsn(Opcodes.ASTORE, token);
        if (!site.enter.isEmpty()) {
            mv.visitVarInsn(Opcodes.ALOAD, token);
            Site.sources(site.enter).forEach((place, type) -> Emit.load(mv, type, place));
            site.callValues(mv);
        }
        guard();
    }

    private void guard() {
        start = new Label();
        mv.visitLabel(start);
    }

    /** A range without any instruction is not allowed in a class file. */
    private void unguard() {
        Label end = new Label();
        mv.visitLabel(end);
        if (end.getOffset() > start.getOffset()) {
            mv.visitTryCatchBlock(start, end, handler, null);
            guarded = true;
        }
    }

    @Override
    void leave(int opcode) {
        unguard();
        if (site.exit.isEmpty()) {
            mv.visitInsn(Opcodes.ACONST_NULL);
            mv.visitVarInsn(Opcodes.ALOAD, token);
            Emit.hook(mv, "finish", "(TO)V");
            return;
        }
        if (site.usesResult()) {
            mv.visitInsn(site.result().getSize() == 2 ? Opcodes.DUP2 : Opcodes.DUP);
        }
        loadKept();
        site.callExit(mv);
    }

    private void loadKept() {
        mv.visitVarInsn(Opcodes.ALOAD, token);
        exitSources.forEach((place, type) -> Emit.load(mv, type, kept.get(place)));
    }

    @Override
    void left() {
        guard();
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        unguard();
        if (guarded) {
            mv.visitLabel(handler);
            Emit.frame(mv, ownOnly(), Emit.THROWABLE);
            mv.visitInsn(Opcodes.DUP);
            if (site.exit.isEmpty()) {
                mv.visitVarInsn(Opcodes.ALOAD, token);
                Emit.hook(mv, "finish", "(TO)V");
            } else {
                loadKept();
                site.callFail(mv);
            }
            mv.visitInsn(Opcodes.ATHROW);
        }
        super.visitMaxs(maxStack, maxLocals);
    }
}
