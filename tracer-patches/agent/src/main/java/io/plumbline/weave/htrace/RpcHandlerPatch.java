package io.plumbline.weave.htrace;

import io.plumbline.weave.WeaveException;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;

/**
 * The RPC server's handlers: the time in the call queue becomes a span of its own. The server span begins when the call
 * was parsed, and its scope is attached to the handler's thread when that takes the call.
 */
final class RpcHandlerPatch extends HTracePatch {
    RpcHandlerPatch() {
        super("org.apache.hadoop.ipc.Server$Handler");
    }

    @Override
    public byte[] replacement(String className, byte[] original, ClassFileLocator locator) throws WeaveException {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, 0);
        Attaching attaching = new Attaching(writer);
        reader.accept(attaching, 0);
        if (!attaching.found) {
            throw new WeaveException("this version of the class has no scopes of HTrace");
        }
        return writer.toByteArray();
    }

    /** scope.reattach() becomes HTraceHooks.dequeued(scope). */
    private static final class Attaching extends ClassVisitor {
        private boolean found;

        Attaching(ClassVisitor out) {
            super(Code.ASM, out);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor out = super.visitMethod(access, name, descriptor, signature, thrown);
            return Code.atCall(Code.SCOPE, "reattach", (code, original) -> {
                found = true;
                Code.call(code, Code.HOOKS, "dequeued", "(L" + Code.SCOPE + ";)V");
            }).around(out);
        }
    }
}
