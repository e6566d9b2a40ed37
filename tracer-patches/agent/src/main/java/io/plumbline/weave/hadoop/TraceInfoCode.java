package io.plumbline.weave.hadoop;

import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Code of {@link TraceInfoMessages}. Generated code checks arguments before, so what arrives at a return is not null;
 * and protobuf may have been moved to another package: the class of byte strings is given.
 */
final class TraceInfoCode {
    static final int HELPER = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC;
    static final String SET = "plumb$set";
    static final String CONTEXT = "plumb$context";
    private static final String BUFFER = "java/nio/ByteBuffer";
    private static final int CONTEXT_BYTES = 16;

    /** The message or its builder. */
    private final String self;
    private final String bytes;

    /** @param bytes the class of byte strings; both with slashes */
    TraceInfoCode(String self, String bytes) {
        this.self = self;
        this.bytes = bytes;
    }

    String setDescriptor() {
        return "(L" + self + ";L" + bytes + ";)V";
    }

    String contextDescriptor() {
        return "(L" + bytes + ";L" + self + ";)L" + bytes + ";";
    }

    /** setSpanContext(value): plumb$set(this, value). */
    MethodVisitor afterSet(MethodVisitor next) {
        return new BeforeReturn(next) {
            @Override
            void add() {
                mv.visitVarInsn(Opcodes.ALOAD, 0);
                mv.visitVarInsn(Opcodes.ALOAD, 1);
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, self, SET, setDescriptor(), false);
            }
        };
    }

    /** hasSpanContext(): or has both of the others. */
    MethodVisitor afterHas(MethodVisitor next) {
        return new BeforeReturn(next) {
            @Override
            void add() {
                hasBoth(mv, 0);
                mv.visitInsn(Opcodes.IOR);
            }
        };
    }

    /** getSpanContext(): plumb$context(what was to be returned, this). */
    MethodVisitor afterGet(MethodVisitor next) {
        return new BeforeReturn(next) {
            @Override
            void add() {
                mv.visitVarInsn(Opcodes.ALOAD, 0);
                mv.visitMethodInsn(Opcodes.INVOKESTATIC, self, CONTEXT, contextDescriptor(), false);
            }
        };
    }

    /**
     * plumb$set(builder, context): a context of our form is trace and parent as well. @param setter their descriptor
     */
    void set(MethodVisitor code, String setter) {
        Label foreign = new Label();
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, bytes, "size", "()I", false);
        code.visitIntInsn(Opcodes.BIPUSH, CONTEXT_BYTES);
        code.visitJumpInsn(Opcodes.IF_ICMPNE, foreign);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, bytes, "asReadOnlyByteBuffer", "()L" + BUFFER + ";", false);
        code.visitVarInsn(Opcodes.ASTORE, 2);
        for (String field : new String[] {"setTraceId", "setParentId"}) {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitVarInsn(Opcodes.ALOAD, 2);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, BUFFER, "getLong", "()J", false);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, self, field, setter, false);
            code.visitInsn(Opcodes.POP);
        }
        code.visitLabel(foreign);
        code.visitFrame(Opcodes.F_NEW, 2, new Object[] {self, bytes}, 0, new Object[0]);
        code.visitInsn(Opcodes.RETURN);
    }

    /** plumb$context(context, message): the context; where it is empty, one of trace and parent, if there are both. */
    void context(MethodVisitor code) {
        Label given = new Label();
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, bytes, "isEmpty", "()Z", false);
        code.visitJumpInsn(Opcodes.IFEQ, given);
        hasBoth(code, 1);
        code.visitJumpInsn(Opcodes.IFEQ, given);
        code.visitIntInsn(Opcodes.BIPUSH, CONTEXT_BYTES);
        code.visitMethodInsn(Opcodes.INVOKESTATIC, BUFFER, "allocate", "(I)L" + BUFFER + ";", false);
        for (String field : new String[] {"getTraceId", "getParentId"}) {
            code.visitVarInsn(Opcodes.ALOAD, 1);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, self, field, "()J", false);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, BUFFER, "putLong", "(J)L" + BUFFER + ";", false);
        }
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, BUFFER, "array", "()[B", false);
        code.visitMethodInsn(Opcodes.INVOKESTATIC, bytes, "copyFrom", "([B)L" + bytes + ";", false);
        code.visitInsn(Opcodes.ARETURN);
        code.visitLabel(given);
        code.visitFrame(Opcodes.F_NEW, 2, new Object[] {bytes, self}, 0, new Object[0]);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitInsn(Opcodes.ARETURN);
    }

    private void hasBoth(MethodVisitor code, int message) {
        for (String field : new String[] {"hasTraceId", "hasParentId"}) {
            code.visitVarInsn(Opcodes.ALOAD, message);
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, self, field, "()Z", false);
        }
        code.visitInsn(Opcodes.IAND);
    }

    /** Adds code before each return; what is returned is on the stack. */
    private abstract static class BeforeReturn extends MethodVisitor {
        BeforeReturn(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        abstract void add();

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                add();
            }
            super.visitInsn(opcode);
        }
    }
}
