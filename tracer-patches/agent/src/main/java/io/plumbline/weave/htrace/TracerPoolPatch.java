package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.load;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.WeaveException;

/** TracerPool: ours gives way to a receiver for plumbd that an operator adds while the process runs. */
final class TracerPoolPatch extends HTracePatch {
    private static final String ADD = "(Lorg/apache/htrace/core/SpanReceiver;)Z";

    TracerPoolPatch() {
        super("org.apache.htrace.core.TracerPool");
    }

    @Override
    void change(ClassEdit edit) throws WeaveException {
        edit.needMethod("addReceiver", ADD);
        edit.in("addReceiver", ADD, Code.last(code -> {
            load(code, 0);
            load(code, 1);
            call(code, HOOKS, "added", "(L" + OBJECT + ";L" + OBJECT + ";)V");
        }));
    }
}
