package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Collections;
import java.util.Set;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Whenever the process asks for its login, the sender hears of it: with {@code auth = kerberos} it logs in by that. In
 * every Hadoop.
 */
public final class LoginUsers implements Patch {
    private static final String USER = "org/apache/hadoop/security/UserGroupInformation";
    private static final String GET = "getLoginUser";
    private static final String TYPE = "()L" + USER + ";";

    @Override
    public Set<String> classes() {
        return Collections.singleton(USER.replace('/', '.'));
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        edit.needMethod(GET, TYPE);
        return edit.in(GET, TYPE, Tell::new).bytes();
    }

    /** Before each return: HadoopLogin.found(what is returned). */
    private static final class Tell extends MethodVisitor {
        Tell(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.ARETURN) {
                super.visitInsn(Opcodes.DUP);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "io/plumbline/send/net/HadoopLogin", "found",
                        "(Ljava/lang/Object;)V", false);
            }
            super.visitInsn(opcode);
        }
    }
}
