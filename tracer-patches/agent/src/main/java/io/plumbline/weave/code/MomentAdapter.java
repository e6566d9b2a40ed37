package io.plumbline.weave.code;

import io.plumbline.weave.list.Signature;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** What happens at one moment only, the call or the return, and needs no handler. */
final class MomentAdapter extends CodeAdapter {
    /** Which. */
    enum Moment {
        /** At the end of a constructor: the object takes the current span along. */
        CAPTURE,
        /** At the return: from here on it is held. */
        HOLD,
        /** At the call: held until here. */
        RELEASE,
        /** At the call: from here to UNTIL, of the same object. */
        SINCE,
        UNTIL,
        /** At the return: the result takes the current span along. */
        CARRY
    }

    private final Site site;
    private final Moment moment;
    private final String carried;

    /** @param carried the field for CAPTURE, SINCE and UNTIL, else null */
    MomentAdapter(MethodVisitor out, Site site, int firstOwn, Moment moment, String carried) {
        super(out, site.method.name.equals(Signature.CONSTRUCTOR), firstOwn);
        this.site = site;
        this.moment = moment;
        this.carried = carried;
    }

    @Override
    void enter() {
        if (moment == Moment.RELEASE) {
            owner();
            Site.sources(site.enter).forEach((place, type) -> Emit.load(mv, type, place));
            site.callRelease(mv);
        } else if (moment == Moment.SINCE) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
            Emit.hook(mv, "since", "()O");
            mv.visitFieldInsn(Opcodes.PUTFIELD, site.self.name, carried, "Ljava/lang/Object;");
        } else if (moment == Moment.UNTIL) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
            mv.visitFieldInsn(Opcodes.GETFIELD, site.self.name, carried, "Ljava/lang/Object;");
            site.point(mv);
            Emit.hook(mv, "until", "(OP)V");
        }
    }

    @Override
    void leave(int opcode) {
        if (moment == Moment.CAPTURE) {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
            Emit.hook(mv, "capture", "()S");
            mv.visitFieldInsn(Opcodes.PUTFIELD, site.self.name, carried, "L" + Emit.SPAN_REF + ";");
        } else if (moment == Moment.HOLD) {
            owner();
            site.point(mv);
            Emit.hook(mv, "hold", "(OP)V");
        } else if (moment == Moment.CARRY) {
            site.point(mv);
            Emit.hook(mv, "carry", "(OP)O");
            mv.visitTypeInsn(Opcodes.CHECKCAST, site.result().getInternalName());
        }
    }

    private void owner() {
        if (site.isStatic()) {
            mv.visitInsn(Opcodes.ACONST_NULL);
        } else {
            mv.visitVarInsn(Opcodes.ALOAD, 0);
        }
    }
}
