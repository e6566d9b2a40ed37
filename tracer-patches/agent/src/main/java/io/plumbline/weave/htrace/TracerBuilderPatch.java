package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.TRACER;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** Tracer.Builder: Hadoop's configuration reaches our settings, and each tracer's pool gets a receiver. */
final class TracerBuilderPatch extends HTracePatch {
    private static final String BUILDER = TRACER + "$Builder";
    private static final String CONF = "org/apache/htrace/core/HTraceConfiguration";
    private static final String BUILD = "()L" + TRACER + ";";

    TracerBuilderPatch() {
        super("org.apache.htrace.core.Tracer$Builder");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needField("name", "Ljava/lang/String;");
        edit.needField("conf", "L" + CONF + ";");
        edit.needMethod("build", BUILD);
        edit.in("build", BUILD, Code.first(TracerBuilderPatch::building))
                .in("build", BUILD, Code.last(TracerBuilderPatch::built));
    }

    /** this.conf = HTraceHooks.building(this.name, this.conf) */
    private static void building(MethodVisitor code) {
        load(code, 0);
        name(code);
        load(code, 0);
        Code.field(code, BUILDER, "conf", "L" + CONF + ";");
        call(code, HOOKS, "building", "(Ljava/lang/String;L" + OBJECT + ";)L" + OBJECT + ";");
        code.visitTypeInsn(Opcodes.CHECKCAST, CONF);
        code.visitFieldInsn(Opcodes.PUTFIELD, BUILDER, "conf", "L" + CONF + ";");
    }

    /** HTraceHooks.built(this.name, tracer), and the tracer is still there to be returned. */
    private static void built(MethodVisitor code) {
        code.visitInsn(Opcodes.DUP);
        name(code);
        code.visitInsn(Opcodes.SWAP);
        call(code, HOOKS, "built", "(Ljava/lang/String;L" + OBJECT + ";)V");
    }

    private static void name(MethodVisitor code) {
        load(code, 0);
        Code.field(code, BUILDER, "name", "Ljava/lang/String;");
    }
}
