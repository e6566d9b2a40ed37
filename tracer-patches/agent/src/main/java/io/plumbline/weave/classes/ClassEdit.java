package io.plumbline.weave.classes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Changes to one class file, collected and then made in one go. What a patch needs of the class is asked for first.
 * Types are named, never loaded. One thread.
 */
public final class ClassEdit {
    /** What is changed in methods that there are. */
    public interface Change {
        /** @param next what comes after. @return what comes in front of it */
        MethodVisitor around(MethodVisitor next);
    }

    private static final class Wrap {
        /** Null: any. */
        final String name;
        /** Null: any. */
        final String descriptor;
        final Change change;

        Wrap(String name, String descriptor, Change change) {
            this.name = name;
            this.descriptor = descriptor;
            this.change = change;
        }

        boolean means(String method, String type) {
            return (name == null || name.equals(method)) && (descriptor == null || descriptor.equals(type));
        }
    }

    private final byte[] file;
    private final ClassInfo info;
    private final List<String> interfaces = new ArrayList<>();
    private final List<Wrap> wraps = new ArrayList<>();
    private final List<Consumer<ClassVisitor>> added = new ArrayList<>();
    private String from;
    private String to;

    /** @param file not changed */
    public ClassEdit(byte[] file) {
        this.file = file;
        this.info = ClassInfo.read(file);
    }

    /** With slashes. */
    public String name() {
        return info.name;
    }

    /** @throws WeaveException when this version of the class has no such field of its own */
    public void needField(String name, String descriptor) throws WeaveException {
        if (!hasField(name, descriptor)) {
            throw new WeaveException(info.name.replace('/', '.') + " has no field " + name + " of type " + descriptor);
        }
    }

    /** Of its own. */
    public boolean hasField(String name, String descriptor) {
        for (ClassInfo.Member field : info.fields) {
            if (field.name.equals(name) && field.descriptor.equals(descriptor)) {
                return true;
            }
        }
        return false;
    }

    /** @throws WeaveException when this version of the class has no such method of its own */
    public void needMethod(String name, String descriptor) throws WeaveException {
        if (!hasMethod(name, descriptor)) {
            throw new WeaveException(info.name.replace('/', '.') + " has no method " + name + descriptor);
        }
    }

    /** @throws WeaveException when this version of the class has such a method of its own: none can be added */
    public void needNoMethod(String name, String descriptor) throws WeaveException {
        if (hasMethod(name, descriptor)) {
            throw new WeaveException(info.name.replace('/', '.') + " has a method " + name + descriptor);
        }
    }

    private boolean hasMethod(String name, String descriptor) {
        for (ClassInfo.Member method : info.methods) {
            if (method.name.equals(name) && method.descriptor.equals(descriptor)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Its descriptor.
     *
     * @param arguments what it begins with, as {@code "(J)"}
     * @param otherwise what is said when this version of the class has no such method
     */
    public String method(String name, String arguments, String otherwise) throws WeaveException {
        for (ClassInfo.Member method : info.methods) {
            if (method.name.equals(name) && method.descriptor.startsWith(arguments)) {
                return method.descriptor;
            }
        }
        throw new WeaveException(otherwise);
    }

    /** The descriptor of its method of that name that takes most. @throws WeaveException when there is none */
    public String longest(String name) throws WeaveException {
        String longest = null;
        for (ClassInfo.Member method : info.methods) {
            if (method.name.equals(name) && (longest == null || method.descriptor.length() > longest.length())) {
                longest = method.descriptor;
            }
        }
        if (longest == null) {
            throw new WeaveException(info.name.replace('/', '.') + " has no method " + name);
        }
        return longest;
    }

    public ClassEdit implement(String interfaceName) {
        interfaces.add(interfaceName);
        return this;
    }

    /** Adds a field that nobody else sees, and which is not part of the object's serial form. */
    public ClassEdit addField(String name, String descriptor) {
        added.add(out -> out.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC, name,
                descriptor, null, null).visitEnd());
        return this;
    }

    /**
     * Adds a method. @param access synthetic is added to it. @param body its instructions, with the frames they need
     */
    public ClassEdit addMethod(int access, String name, String descriptor, Consumer<MethodVisitor> body) {
        added.add(out -> {
            MethodVisitor code = out.visitMethod(access | Opcodes.ACC_SYNTHETIC, name, descriptor, null, null);
            code.visitCode();
            body.accept(code);
            code.visitMaxs(0, 0);
            code.visitEnd();
        });
        return this;
    }

    /** The method gets another name and becomes private: one that is added takes its place. One at most. */
    public ClassEdit rename(String method, String name) {
        from = method;
        to = name;
        return this;
    }

    /** @param method null: all methods. @param descriptor null: all of that name. */
    public ClassEdit in(String method, String descriptor, Change change) {
        wraps.add(new Wrap(method, descriptor, change));
        return this;
    }

    /** The class file with all that. */
    public byte[] bytes() {
        ClassReader reader = new ClassReader(file);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Rewriter(writer), 0);
        return writer.toByteArray();
    }

    private final class Rewriter extends ClassVisitor {
        Rewriter(ClassVisitor out) {
            super(Opcodes.ASM9, out);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] parents) {
            List<String> all = new ArrayList<>(Arrays.asList(parents));
            StringBuilder generic = signature == null ? null : new StringBuilder(signature);
            for (String added : interfaces) {
                all.add(added);
                if (generic != null) {
                    generic.append('L').append(added).append(';');
                }
            }
            super.visit(version, access, name, generic == null ? null : generic.toString(), parent,
                    all.toArray(new String[0]));
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                String[] thrown) {
            boolean renamed = name.equals(from);
            MethodVisitor out = super.visitMethod(renamed ? hidden(access) : access, renamed ? to : name, descriptor,
                    signature, thrown);
            for (Wrap wrap : wraps) {
                if (wrap.means(name, descriptor)) {
                    out = wrap.change.around(out);
                }
            }
            return out;
        }

        private int hidden(int access) {
            return access & ~(Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED) | Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC;
        }

        @Override
        public void visitEnd() {
            for (Consumer<ClassVisitor> one : added) {
                one.accept(cv);
            }
            super.visitEnd();
        }
    }
}
