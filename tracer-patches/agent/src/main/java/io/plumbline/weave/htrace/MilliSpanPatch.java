package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.TIMES;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.load;
import static io.plumbline.weave.htrace.Code.method;
import static net.bytebuddy.matcher.ElementMatchers.named;

import io.plumbline.send.NanoSpan;
import io.plumbline.trace.htrace.PatchedSpan;
import io.plumbline.trace.htrace.SpanTimes;
import io.plumbline.weave.WeaveException;
import net.bytebuddy.description.modifier.FieldPersistence;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.FieldAccessor;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * MilliSpan: its times in nanoseconds, as {@link NanoSpan}. A span that was not started by HTrace now, but read from
 * JSON or built with times of somebody's, keeps its milliseconds.
 */
final class MilliSpanPatch extends HTracePatch {
    private static final String SPAN = "org/apache/htrace/core/MilliSpan";
    private static final String FIELD = "plumbTimes";
    private static final String FIELD_TYPE = "L" + TIMES + ";";
    private static final String TIMELINE = "Ljava/util/List;";
    private static final String SPAN_ID = "()Lorg/apache/htrace/core/SpanId;";
    private static final String NOTE = "(Ljava/lang/String;)V";

    MilliSpanPatch() {
        super("org.apache.htrace.core.MilliSpan");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        Code.needField(type, "timeline", TIMELINE);
        Code.needMethod(type, "stop", "()V");
        Code.needMethod(type, "getSpanId", SPAN_ID);
        Code.needMethod(type, "addTimelineAnnotation", NOTE);
        DynamicType.Builder<?> changed = builder.implement(NanoSpan.class, PatchedSpan.class)
                .defineField(FIELD, SpanTimes.class, Visibility.PRIVATE, SyntheticState.SYNTHETIC,
                        FieldPersistence.TRANSIENT);
        changed = Code.define(changed, "plumbTimes", SpanTimes.class).intercept(FieldAccessor.ofField(FIELD));
        changed = Code.define(changed, "plumbTimes", void.class, SpanTimes.class)
                .intercept(FieldAccessor.ofField(FIELD));
        changed = Code.define(changed, "beginNs", long.class).intercept(number("beginNs"));
        changed = Code.define(changed, "durationNs", long.class).intercept(number("durationNs"));
        changed = Code.define(changed, "noteNs", long.class, int.class).intercept(note());
        return changed
                .visit(Code.in(method("stop", "()V"), Code.last(MilliSpanPatch::stopped)))
                .visit(Code.in(method("addTimelineAnnotation", NOTE), Code.last(MilliSpanPatch::noted)))
                .visit(Code.in(method("getSpanId", SPAN_ID).or(named("child")), Code.first(MilliSpanPatch::asked)))
                .visit(Code.in(named("child"), Code.atCall(SPAN + "$Builder", "build", MilliSpanPatch::begun)));
    }

    /** After MilliSpan.Builder.build() in a place that gives the present time as begin. */
    static void begun(MethodVisitor code, Runnable original) {
        original.run();
        code.visitInsn(Opcodes.DUP);
        call(code, HOOKS, "begun", "(L" + OBJECT + ";)V");
    }

    private static Implementation number(String name) {
        return Code.body(2, 1, code -> {
            times(code);
            call(code, TIMES, name, "(" + FIELD_TYPE + ")J");
            code.visitInsn(Opcodes.LRETURN);
        });
    }

    private static Implementation note() {
        return Code.body(2, 2, code -> {
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
