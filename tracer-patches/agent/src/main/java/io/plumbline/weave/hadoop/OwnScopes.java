package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Spans that Hadoop opens by itself under names that differ from version to version or carry a number, or without the
 * bytes that were read. Some get the name that they have elsewhere. Those of the client's reads (Hadoop 2.8 to 3.1) are
 * not opened at all: the list of functions has the same functions, with values, for every version.
 *
 * <p>Where a scope was opened there is null then. Compilers test for null before they close a resource.
 */
public final class OwnScopes implements Patch {
    private static final String HDFS = "org.apache.hadoop.hdfs.";
    private static final String CLIENT = "org/apache/hadoop/hdfs/DFSClient";
    private static final String HTRACE = "org/apache/htrace/core/Tracer";
    private static final String REVIVED = "org/apache/hadoop/tracing/Tracer";
    private static final String BLOCK_SENDER = HDFS + "server.datanode.BlockSender";

    private static final Set<String> READERS = new HashSet<>(Arrays.asList(
            HDFS + "DFSInputStream",
            HDFS + "DFSInputStream$2",
            HDFS + "client.impl.BlockReaderRemote",
            HDFS + "client.impl.BlockReaderRemote2",
            HDFS + "client.impl.BlockReaderLocal",
            HDFS + "client.impl.BlockReaderLocalLegacy"));
    /** Written as a constant where the scope is opened, by class: the name there, and the one that others have. */
    private static final Map<String, Map<String, String>> RENAMED = renamed();

    private static Map<String, Map<String, String>> renamed() {
        Map<String, String> output = new HashMap<>();
        output.put("DFSOutputStream#completeFile", "completeFile");
        output.put("DFSOutputStream#completeFile: Retry", "completeFile");
        return Collections.singletonMap(HDFS + "DFSOutputStream", output);
    }

    @Override
    public Set<String> classes() {
        Set<String> classes = new HashSet<>(READERS);
        classes.addAll(RENAMED.keySet());
        classes.add(BLOCK_SENDER);
        return classes;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, 0);
        Rewriter rewriter = new Rewriter(writer, className);
        reader.accept(rewriter, 0);
        if (!rewriter.changed) {
            throw new WeaveException("this version of the class opens no such span");
        }
        return writer.toByteArray();
    }

    private static final class Rewriter extends ClassVisitor {
        private final String className;
        private boolean changed;

        Rewriter(ClassVisitor out, String className) {
            super(Opcodes.ASM9, out);
            this.className = className;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                String[] thrown) {
            MethodVisitor out = super.visitMethod(access, name, descriptor, signature, thrown);
            if (READERS.contains(className)) {
                return new WithoutScopes(out);
            }
            return new Renaming(out);
        }

        /** Opens no scopes. */
        private final class WithoutScopes extends MethodVisitor {
            WithoutScopes(MethodVisitor out) {
                super(Opcodes.ASM9, out);
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
                if (owner.equals(CLIENT) && name.equals("newReaderTraceScope")) {
                    drop(Opcodes.POP, Opcodes.POP2, Opcodes.POP2, Opcodes.POP, Opcodes.ACONST_NULL);
                } else if (owner.equals(CLIENT) && name.equals("addRetLenToReaderScope")) {
                    drop(Opcodes.POP2, Opcodes.POP);
                } else if (owner.equals(HTRACE) && name.equals("newScope")
                        && descriptor.startsWith("(Ljava/lang/String;)")) {
                    drop(Opcodes.POP2, Opcodes.ACONST_NULL);
                } else if (owner.equals(HTRACE) && name.equals("newScope")) {
                    drop(Opcodes.POP2, Opcodes.POP, Opcodes.ACONST_NULL);
                } else {
                    super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
                }
            }

            /** In the call's place: its operands go, what it returned is null. */
            private void drop(int... instructions) {
                changed = true;
                for (int instruction : instructions) {
                    super.visitInsn(instruction);
                }
            }
        }

        /** Opens them under another name. */
        private final class Renaming extends MethodVisitor {
            Renaming(MethodVisitor out) {
                super(Opcodes.ASM9, out);
            }

            @Override
            public void visitLdcInsn(Object value) {
                String other = RENAMED.getOrDefault(className, Collections.emptyMap()).get(value);
                changed |= other != null;
                super.visitLdcInsn(other == null ? value : other);
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
                boolean opens = (owner.equals(HTRACE) || owner.equals(REVIVED)) && name.equals("newScope")
                        && descriptor.startsWith("(Ljava/lang/String;)");
                if (opens && className.equals(BLOCK_SENDER)) {
                    // It would have been sendBlock_<id>; the id is recorded below it.
                    changed = true;
                    super.visitInsn(Opcodes.POP);
                    super.visitLdcInsn("sendBlock");
                }
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }
    }
}
