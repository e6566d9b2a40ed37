package io.plumbline.weave.classes;

import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** What a class file says of a class and its members. Immutable once read. */
public final class ClassInfo extends ClassVisitor {
    /** A field or method. */
    public static final class Member {
        /** The class that declares it. */
        public final ClassInfo owner;
        public final int access;
        public final String name;
        public final String descriptor;

        public Member(ClassInfo owner, int access, String name, String descriptor) {
            this.owner = owner;
            this.access = access;
            this.name = name;
            this.descriptor = descriptor;
        }

        public boolean is(int flag) {
            return (access & flag) != 0;
        }
    }

    /** As {@code java/util/List}. */
    public String name;
    int access;
    /** Null for java/lang/Object. */
    String superName;
    String[] interfaces;
    final List<Member> fields = new ArrayList<>();
    public final List<Member> methods = new ArrayList<>();

    private ClassInfo() {
        super(Opcodes.ASM9);
    }

    /** @throws RuntimeException when it is no class file, or a newer one than the reader knows */
    public static ClassInfo read(byte[] classFile) {
        ClassInfo info = new ClassInfo();
        new ClassReader(classFile).accept(info,
                ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return info;
    }

    public boolean isInterface() {
        return (access & Opcodes.ACC_INTERFACE) != 0;
    }

    String packageName() {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }

    @Override
    public void visit(int version, int flags, String type, String signature, String parent, String[] parents) {
        name = type;
        access = flags;
        superName = parent;
        interfaces = parents == null ? new String[0] : parents;
    }

    @Override
    public FieldVisitor visitField(int flags, String field, String descriptor, String signature, Object value) {
        fields.add(new Member(this, flags, field, descriptor));
        return null;
    }

    @Override
    public MethodVisitor visitMethod(int flags, String method, String descriptor, String signature, String[] thrown) {
        methods.add(new Member(this, flags, method, descriptor));
        return null;
    }
}
