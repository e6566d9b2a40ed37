package io.plumbline.weave.hadoop;

import static io.plumbline.weave.hadoop.OutputStreams.hook;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * What Hadoop's own spans of the client's writes do not say: the stream, the packet's number, and the bytes. Needed to
 * follow a wait to the packets that were waited for.
 */
public final class SentPackets implements Patch {
    private static final String HDFS = "org.apache.hadoop.hdfs.";
    private static final String STREAMER = HDFS + "DataStreamer";
    private static final String PACKET = HDFS + "DFSPacket";
    private static final String SUMMER = "org.apache.hadoop.fs.FSOutputSummer";
    private static final String STATUS = HDFS + "protocol.HdfsFileStatus";
    private static final String STATUS_NAME = STATUS.replace('.', '/');
    private static final String PACKET_NAME = PACKET.replace('.', '/');
    private static final String FIELD = "plumb$packet";
    private static final String OBJECT = "Ljava/lang/Object;";
    private static final Set<String> CLASSES =
            Collections.unmodifiableSet(new HashSet<>(Arrays.asList(STREAMER, PACKET, SUMMER)));

    @Override
    public Set<String> classes() {
        return CLASSES;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        switch (className) {
            case PACKET:
                return packet(edit);
            case SUMMER:
                edit.needMethod("writeChecksumChunks", "([BII)V");
                return edit.in("writeChecksumChunks", "([BII)V", Writes::new).bytes();
            default:
                return streamer(edit, files);
        }
    }

    private static byte[] packet(ClassEdit edit) throws WeaveException {
        edit.needField("seqno", "J");
        edit.needField("dataStart", "I");
        edit.needField("dataPos", "I");
        return edit.implement("io/plumbline/trace/StreamHooks$Packet")
                .addMethod(Opcodes.ACC_PUBLIC, "plumbSeqno", "()J", code -> {
                    field(code, edit.name(), "seqno", "J");
                    code.visitInsn(Opcodes.LRETURN);
                })
                .addMethod(Opcodes.ACC_PUBLIC, "plumbBytes", "()J", code -> {
                    field(code, edit.name(), "dataPos", "I");
                    field(code, edit.name(), "dataStart", "I");
                    code.visitInsn(Opcodes.ISUB);
                    code.visitInsn(Opcodes.I2L);
                    code.visitInsn(Opcodes.LRETURN);
                })
                .bytes();
    }

    private static byte[] streamer(ClassEdit edit, ClassFiles files) throws WeaveException {
        edit.needField("stat", "L" + STATUS_NAME + ";");
        edit.needMethod("waitForAckedSeqno", "(J)V");
        int get = statusIsInterface(files) ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL;
        return edit.addField(FIELD, OBJECT)
                .in("run", "()V", next -> new Packets(next, edit.name(), get))
                .in("work", "()V", next -> new Packets(next, edit.name(), get))
                .in("waitForAckedSeqno", "(J)V", next -> new Packets(next, edit.name(), get))
                .in("waitAndQueuePacket", null, next -> new Waits(next, edit.name(), get))
                .bytes();
    }

    private static boolean statusIsInterface(ClassFiles files) throws WeaveException {
        return (new ClassReader(files.need(STATUS)).getAccess() & Opcodes.ACC_INTERFACE) != 0;
    }

    private static void field(MethodVisitor code, String owner, String name, String type) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, owner, name, type);
    }

    /** this.stat.getFileId() */
    private static void number(MethodVisitor code, String owner, int get) {
        field(code, owner, "stat", "L" + STATUS_NAME + ";");
        code.visitMethodInsn(get, STATUS_NAME, "getFileId", "()J", get == Opcodes.INVOKEINTERFACE);
    }

    /** Hadoop's scopes of a packet and of the wait for one, by the names that they are opened with. */
    private static final class Packets extends MethodVisitor {
        private final String owner;
        private final int get;
        private Object text;

        Packets(MethodVisitor next, String owner, int get) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.get = get;
        }

        @Override
        public void visitLdcInsn(Object value) {
            text = value;
            super.visitLdcInsn(value);
        }

        @Override
        public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
            if (of.equals(PACKET_NAME) && name.equals("getTraceParents")) {
                // The packet at hand, which no local variable holds for us later.
                super.visitInsn(Opcodes.DUP);
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitInsn(Opcodes.SWAP);
                super.visitFieldInsn(Opcodes.PUTFIELD, owner, FIELD, OBJECT);
            }
            super.visitMethodInsn(opcode, of, name, descriptor, isInterface);
            if (name.equals("newScope")) {
                opened();
            }
        }

        private void opened() {
            if ("dataStreamer".equals(text)) {
                field(mv, owner, FIELD, OBJECT);
                number(mv, owner, get);
                hook(mv, "sends", "(" + OBJECT + "J)V");
            } else if ("DataStreamer#writeTo".equals(text)) {
                field(mv, owner, FIELD, OBJECT);
                hook(mv, "puts", "(" + OBJECT + ")V");
            } else if ("waitForAckedSeqno".equals(text)) {
                number(mv, owner, get);
                super.visitVarInsn(Opcodes.LLOAD, 1);
                hook(mv, "waits", "(JJ)V");
            }
        }
    }

    /** First of all: the span that may wait here for space in the queue is the stream's. */
    private static final class Waits extends MethodVisitor {
        private final String owner;
        private final int get;

        Waits(MethodVisitor next, String owner, int get) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.get = get;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            number(mv, owner, get);
            hook(mv, "of", "(J)V");
        }
    }

    /** StreamHooks.writes(the scope just opened, the length). */
    private static final class Writes extends MethodVisitor {
        Writes(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitMethodInsn(int opcode, String of, String name, String descriptor, boolean isInterface) {
            super.visitMethodInsn(opcode, of, name, descriptor, isInterface);
            if (name.equals("createWriteTraceScope")) {
                super.visitInsn(Opcodes.DUP);
                super.visitVarInsn(Opcodes.ILOAD, 3);
                super.visitInsn(Opcodes.I2L);
                hook(mv, "writes", "(" + OBJECT + "J)V");
            }
        }
    }
}
