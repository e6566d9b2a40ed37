package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.TIMES;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * MilliSpan: its times in nanoseconds, as NanoSpan. A span that was not started by HTrace now, but read from
 * JSON or built with times of somebody's, keeps its milliseconds.
 */
final class MilliSpanPatch extends HTracePatch {
    private static final String SPAN = "org/apache/htrace/core/MilliSpan";
    private static final String NANO_SPAN = "io/plumbline/send/NanoSpan";
    private static final String FIELD = "plumbTimes";
    private static final String FIELD_TYPE = "L" + TIMES + ";";
    private static final String TIMELINE = "Ljava/util/List;";
    private static final String SPAN_ID = "()Lorg/apache/htrace/core/SpanId;";
    private static final String NOTE = "(Ljava/lang/String;)V";

    MilliSpanPatch() {
        super("org.apache.htrace.core.MilliSpan");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needField("timeline", TIMELINE);
        edit.needMethod("stop", "()V");
        edit.needMethod("getSpanId", SPAN_ID);
        edit.needMethod("addTimelineAnnotation", NOTE);
        edit.implement(NANO_SPAN).implement("io/plumbline/trace/htrace/PatchedSpan");
        Code.property(edit, FIELD, FIELD_TYPE);
        number(edit, "beginNs");
        number(edit, "durationNs");
        note(edit);
        edit.in("stop", "()V", Code.last(MilliSpanPatch::stopped))
                .in("addTimelineAnnotation", NOTE, Code.last(MilliSpanPatch::noted))
                .in("getSpanId", SPAN_ID, Code.first(MilliSpanPatch::asked))
                .in("child", null, Code.first(MilliSpanPatch::asked))
                .in("child", null, Code.atCall(SPAN + "$Builder", "build", MilliSpanPatch::begun));
    }

    /** After MilliSpan.Builder.build() in a place that gives the present time as begin. */
    static void begun(MethodVisitor code, Runnable original) {
        original.run();
        code.visitInsn(Opcodes.DUP);
        call(code, HOOKS, "begun", "(L" + OBJECT + ";)V");
    }

    private static void number(ClassEdit edit, String name) {
        Code.method(edit, name, "()J", code -> {
            times(code);
            call(code, TIMES, name, "(" + FIELD_TYPE + ")J");
            code.visitInsn(Opcodes.LRETURN);
        });
    }

    private static void note(ClassEdit edit) {
        Code.method(edit, "noteNs", "(I)J", code -> {
            times(code);
            code.visitVarInsn(Opcodes.ILOAD, 1);
            call(code, TIMES, "noteNs", "(" + FIELD_TYPE + "I)J");
            code.visitInsn(Opcodes.LRETURN);
        });
    }

    private static void stopped(MethodVisitor code) {
        times(code);
        call(code, TIMES, "stopped", "(" + FIELD_TYPE + ")V");
    }

    private static void asked(MethodVisitor code) {
        times(code);
        call(code, TIMES, "asked", "(" + FIELD_TYPE + ")V");
    }

    private static void noted(MethodVisitor code) {
        times(code);
        load(code, 0);
        Code.field(code, SPAN, "timeline", TIMELINE);
        call(code, HOOKS, "noted", "(" + FIELD_TYPE + TIMELINE + ")V");
    }

    private static void times(MethodVisitor code) {
        load(code, 0);
        Code.field(code, SPAN, FIELD, FIELD_TYPE);
    }
}
