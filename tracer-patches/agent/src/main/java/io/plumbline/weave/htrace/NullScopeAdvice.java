package io.plumbline.weave.htrace;

import io.plumbline.trace.htrace.HTraceHooks;
import net.bytebuddy.asm.Advice;

/** Inlined into Tracer.popNullScope(). */
final class NullScopeAdvice {
    private NullScopeAdvice() {
    }

    @Advice.OnMethodEnter
    static Object enter(@Advice.This Object tracer) {
        return HTraceHooks.hide(tracer);
    }

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit(@Advice.This Object tracer, @Advice.Enter Object hidden) {
        HTraceHooks.show(tracer, hidden);
    }
}
