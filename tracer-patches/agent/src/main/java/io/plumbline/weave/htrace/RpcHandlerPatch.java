package io.plumbline.weave.htrace;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The RPC server's handlers: the time in the call queue becomes a span of its own. The server span begins when the call
 * was parsed, and its scope is attached to the handler's thread when that takes the call.
 */
final class RpcHandlerPatch implements Patch {
    @Override
    public Set<String> classes() {
        return Collections.singleton("org.apache.hadoop.ipc.Server$Handler");
    }

    @Override
    public boolean ownLoaderOnly() {
        return true;
    }

    /** scope.reattach() becomes HTraceHooks.dequeued(scope). */
    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        AtomicBoolean found = new AtomicBoolean();
        byte[] changed = new ClassEdit(original).in(null, null, Code.atCall(Code.SCOPE, "reattach", (code, call) -> {
            found.set(true);
            Code.call(code, Code.HOOKS, "dequeued", "(L" + Code.SCOPE + ";)V");
        })).bytes();
        if (!found.get()) {
            throw new WeaveException("this version of the class has no scopes of HTrace");
        }
        return changed;
    }
}
