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
 * Hadoop 3.3.2 and later: the span of a packet ("dataStreamer") has all the packet's parents, and ends when the packet
 * is acknowledged, sent anew, or given up. Hadoop itself keeps one parent and ends the span at none of these.
 */
public final class Packets implements Patch {
    private static final String PACKET = "org.apache.hadoop.hdfs.DFSPacket";
    private static final String SPAN = "Lorg/apache/hadoop/tracing/Span;";
    private static final String SPANS = "io/plumbline/trace/PacketSpans";

    @Override
    public Set<String> classes() {
        return Collections.singleton(PACKET);
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        if (!edit.hasField("span", SPAN)) {
            throw new WeaveException("this version's packets keep HTrace's scopes, and close them");
        }
        String parents = edit.method("getTraceParents", "()[L", "this version's packets have no getTraceParents");
        String setter = edit.method("setSpan", "(" + SPAN + ")V", "this version's packets have no setSpan");
        String release = edit.method("releaseBuffer", "(", "this version's packets have no releaseBuffer");
        return edit.in("getTraceParents", parents, Parents::new)
                .in("setSpan", setter, next -> new Replaced(next, edit.name()))
                .in("releaseBuffer", release, next -> new Released(next, edit.name()))
                .bytes();
    }

    /** Before the return: PacketSpans.parents(what is returned). */
    private static final class Parents extends MethodVisitor {
        Parents(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.ARETURN) {
                mv.visitInsn(Opcodes.DUP);
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, SPANS, "parents", "([Ljava/lang/Object;)V", false);
            }
            super.visitInsn(opcode);
        }
    }

    /** First of all: PacketSpans.replaced(this.span, the new one). */
    private static final class Replaced extends MethodVisitor {
        private final String owner;

        Replaced(MethodVisitor next, String owner) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            span(mv, owner);
            mv.visitVarInsn(Opcodes.ALOAD, 1);
            replaced(mv);
        }
    }

    /** Before the return: PacketSpans.replaced(this.span, null). */
    private static final class Released extends MethodVisitor {
        private final String owner;

        Released(MethodVisitor next, String owner) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN) {
                span(mv, owner);
                mv.visitInsn(Opcodes.ACONST_NULL);
                replaced(mv);
            }
            super.visitInsn(opcode);
        }
    }

    private static void span(MethodVisitor code, String owner) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, "span", SPAN);
    }

    private static void replaced(MethodVisitor code) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, SPANS, "replaced", "(Ljava/io/Closeable;Ljava/lang/Object;)V",
                false);
    }
}
