package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.OBJECT;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.load;
import static io.plumbline.weave.htrace.Code.method;

import io.plumbline.weave.WeaveException;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;

/** TracerPool: ours gives way to a receiver for plumbd that an operator adds while the process runs. */
final class TracerPoolPatch extends HTracePatch {
    private static final String ADD = "(Lorg/apache/htrace/core/SpanReceiver;)Z";

    TracerPoolPatch() {
        super("org.apache.htrace.core.TracerPool");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        Code.needMethod(type, "addReceiver", ADD);
        return builder.visit(Code.in(method("addReceiver", ADD), Code.last(code -> {
            load(code, 0);
            load(code, 1);
            call(code, HOOKS, "added", "(L" + OBJECT + ";L" + OBJECT + ";)V");
        })));
    }
}
