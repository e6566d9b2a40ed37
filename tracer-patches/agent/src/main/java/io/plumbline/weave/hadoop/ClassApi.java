package io.plumbline.weave.hadoop;

import java.util.LinkedHashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** What other classes may use of a class: what it is, and its public and protected members with their descriptors. */
final class ClassApi {
    private static final int VISIBLE = Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED;

    private final Set<String> members = new LinkedHashSet<>();

    private ClassApi() {
    }

    static ClassApi of(byte[] classFile) {
        ClassApi api = new ClassApi();
        new ClassReader(classFile).accept(api.new Collector(),
                ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return api;
    }

    /** Null when the other has all that this has. */
    String firstMissingIn(ClassApi other) {
        for (String member : members) {
            if (!other.members.contains(member)) {
                return member;
            }
        }
        return null;
    }

    private final class Collector extends ClassVisitor {
        Collector() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName,
                String[] interfaces) {
            members.add((access & Opcodes.ACC_INTERFACE) != 0 ? "an interface" : "a class");
            members.add("superclass " + superName);
            for (String type : interfaces) {
                members.add("interface " + type);
            }
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            add(access, name + " " + descriptor);
            return null;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                String[] exceptions) {
            add(access, name + descriptor);
            return null;
        }

        private void add(int access, String member) {
            if ((access & VISIBLE) != 0) {
                members.add(((access & Opcodes.ACC_STATIC) != 0 ? "static " : "") + member);
            }
        }
    }
}
