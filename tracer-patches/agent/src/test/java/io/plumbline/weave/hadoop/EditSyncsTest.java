package io.plumbline.weave.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.weave.classes.WeaveException;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;

/** Versions of the edit log in which what is added would not stand. */
class EditSyncsTest {
    private static final String LOG = "org.apache.hadoop.hdfs.server.namenode.FSEditLogAsync";

    private static byte[] with(String method, String descriptor) {
        ClassWriter out = new ClassWriter(0);
        out.visit(Opcodes.V1_8, Opcodes.ACC_ABSTRACT, "a/Class", null, "java/lang/Object", null);
        out.visitMethod(Opcodes.ACC_ABSTRACT, method, descriptor, null, null).visitEnd();
        out.visitEnd();
        return out.toByteArray();
    }

    private static String refused(String className, byte[] original, byte[] parent) {
        return assertThrows(WeaveException.class,
                () -> new EditSyncs().change(className, original, name -> parent)).getMessage();
    }

    @Test
    void one_that_has_the_method_itself() {
        byte[] syncs = with("logSync", "(J)V");
        byte[] edits = with("logEdit", "()Z");
        assertEquals("a.Class has a method logSync(J)V", refused(LOG, syncs, syncs));
        assertEquals("a.Class has a method logEdit()Z", refused(LOG + "$RpcEdit", edits, edits));
    }

    @Test
    void one_whose_parent_has_it_not() {
        byte[] other = with("other", "()V");
        assertEquals("a.Class has no method logSync(J)V", refused(LOG, other, other));
        assertEquals("a.Class has no method logEdit()Z", refused(LOG + "$RpcEdit", other, other));
        assertEquals("there is no class " + LOG + "$Edit", refused(LOG + "$RpcEdit", other, null));
    }
}
