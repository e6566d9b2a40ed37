package io.plumbline.weave.code;

import io.plumbline.weave.classes.WovenMark;
import io.plumbline.weave.list.Signature;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.jar.asm.Attribute;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** What must be known of a class's code before it is woven. */
public final class Scan extends ClassVisitor {
    /** Of one method. */
    static final class Code {
        int maxLocals;
        /** Does it open a span by HTrace or Hadoop's own means? */
        boolean opensScope;
        /** For a constructor: how often super(...) or this(...) was seen. */
        int initCalls;
        /** Methods of its own class that it calls, as name and descriptor; a constructor if it is this(...). */
        final Set<String> ownCalls = new HashSet<>();
        /** Does it put something else where {@code this} was? */
        boolean losesThis;
        /** What it calls, but for constructors and super.method(...). */
        final List<Inner> calls = new ArrayList<>();
    }

    final Map<String, Code> methods = new HashMap<>();
    /** Our mark, or one of our call sites. */
    public boolean woven;
    public int version;
    private String self;
    private String parent;

    private Scan() {
        super(Opcodes.ASM9);
    }

    public static Scan of(ClassReader reader) {
        Scan scan = new Scan();
        reader.accept(scan, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return scan;
    }

    static String key(String name, String descriptor) {
        return name + descriptor;
    }

    @Override
    public void visit(int classVersion, int access, String name, String signature, String superName,
            String[] interfaces) {
        version = classVersion & 0xFFFF;
        self = name;
        parent = superName;
    }

    @Override
    public void visitAttribute(Attribute attribute) {
        woven |= attribute.type.equals(WovenMark.NAME);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
        Code code = new Code();
        methods.put(key(name, descriptor), code);
        return new CodeScan(code, name.equals(Signature.CONSTRUCTOR));
    }

    /** Reads one method's instructions. */
    private final class CodeScan extends MethodVisitor {
        private final Code code;
        private final boolean constructor;
        private int pendingNew;

        CodeScan(Code code, boolean constructor) {
            super(Opcodes.ASM9);
            this.code = code;
            this.constructor = constructor;
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            pendingNew += opcode == Opcodes.NEW ? 1 : 0;
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            code.losesThis |= variable == 0 && opcode >= Opcodes.ISTORE && opcode <= Opcodes.ASTORE;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            code.opensScope |= opensScope(descriptor);
            if (owner.equals(self) && !name.equals(Signature.CONSTRUCTOR)) {
                code.ownCalls.add(key(name, descriptor));
            }
            if (!name.equals(Signature.CONSTRUCTOR) && (opcode != Opcodes.INVOKESPECIAL || owner.equals(self))) {
                code.calls.add(new Inner(opcode, owner, name, descriptor, isInterface));
            }
            if (name.equals(Signature.CONSTRUCTOR) && --pendingNew < 0) {
                pendingNew = 0;
                initCall(owner, descriptor);
            }
        }

        private void initCall(String owner, String descriptor) {
            if (!constructor) {
                return;
            }
            code.initCalls++;
            if (owner.equals(self)) {
                code.ownCalls.add(key(Signature.CONSTRUCTOR, descriptor));
            } else if (!owner.equals(parent)) {
                code.initCalls++; // not as compilers write constructors: leave it alone
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            woven |= bootstrap.getOwner().equals(Emit.BOOTSTRAP);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            code.maxLocals = maxLocals;
        }
    }

    /** Tracer.newScope and newNullScope, and Hadoop's methods around them, such as DFSClient.newPathTraceScope. */
    private static boolean opensScope(String descriptor) {
        return descriptor.endsWith(")Lorg/apache/htrace/core/TraceScope;")
                || descriptor.endsWith(")Lorg/apache/hadoop/tracing/TraceScope;")
                || descriptor.endsWith(")Lorg/apache/htrace/TraceScope;");
    }
}
