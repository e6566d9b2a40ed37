package io.plumbline.weave.htrace;

import static io.plumbline.weave.htrace.Code.HOOKS;
import static io.plumbline.weave.htrace.Code.SCOPE;
import static io.plumbline.weave.htrace.Code.call;
import static io.plumbline.weave.htrace.Code.method;

import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;

/**
 * The RPC server's handlers: the time in the call queue becomes a span of its own. The server span begins when the call
 * was parsed, and its scope is attached to the handler's thread when that takes the call. Hadoop without HTrace has no
 * scope there: nothing is changed.
 */
final class RpcHandlerPatch implements Patch {
    @Override
    public Set<String> classes() {
        return Collections.singleton("org.apache.hadoop.ipc.Server$Handler");
    }

    @Override
    public DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        Code.needMethod(type, "run", "()V");
        return builder.visit(Code.in(method("run", "()V"), Code.atCall(SCOPE, "reattach",
                (code, original) -> call(code, HOOKS, "dequeued", "(L" + SCOPE + ";)V"))));
    }
}
