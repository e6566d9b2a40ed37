package io.plumbline.weave.classes;

import io.plumbline.weave.list.Expression;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Finds members of classes in their class files, without loading a class. For the weaving of one class; one thread.
 */
public final class ClassPath {
    private final ClassFiles files;
    private final Map<String, ClassInfo> known = new HashMap<>();

    /** @param self the class that is woven: its file need not be found again */
    public ClassPath(ClassInfo self, ClassFiles files) {
        this.files = files;
        known.put(self.name, self);
    }

    /** @throws WeaveException when there is no such class file */
    public ClassInfo find(String name) throws WeaveException {
        ClassInfo info = known.get(name);
        if (info != null) {
            return info;
        }
        try {
            byte[] file = files.find(name.replace('/', '.'));
            if (file == null) {
                throw new WeaveException("class " + name.replace('/', '.') + " is not on the class path");
            }
            info = ClassInfo.read(file);
        } catch (IOException | RuntimeException e) {
            throw new WeaveException("class " + name.replace('/', '.') + " cannot be read: " + e, e);
        }
        known.put(name, info);
        return info;
    }

    /**
     * A field or a method without arguments and with a result, also of superclasses and interfaces.
     *
     * @param from the class whose code will use it
     * @throws WeaveException when there is none, or it is static, or not accessible from there
     */
    public ClassInfo.Member member(ClassInfo from, String type, Expression.Step step) throws WeaveException {
        ClassInfo info = find(type);
        ClassInfo.Member member = search(info, step);
        if (member == null) {
            throw new WeaveException(info.name.replace('/', '.') + " has no " + (step.call ? "method " : "field ")
                    + step.toString().substring(1));
        }
        String what = member.owner.name.replace('/', '.') + step;
        if (member.is(Opcodes.ACC_STATIC)) {
            throw new WeaveException(what + " is static");
        }
        if (!accessible(from, info, member)) {
            throw new WeaveException(what + " is not accessible from " + from.name.replace('/', '.'));
        }
        return member;
    }

    private ClassInfo.Member search(ClassInfo info, Expression.Step step) throws WeaveException {
        ClassInfo.Member found = own(info, step);
        if (found == null && info.superName != null) {
            found = search(find(info.superName), step);
        }
        for (int i = 0; found == null && i < info.interfaces.length; i++) {
            found = search(find(info.interfaces[i]), step);
        }
        return found;
    }

    private static ClassInfo.Member own(ClassInfo info, Expression.Step step) {
        ClassInfo.Member found = null;
        for (ClassInfo.Member member : step.call ? info.methods : info.fields) {
            boolean fits = member.name.equals(step.name)
                    && (!step.call || member.descriptor.startsWith("()") && !member.descriptor.endsWith(")V"));
            // Of a method and the bridges to it the method itself is meant.
            if (fits && (found == null || found.is(Opcodes.ACC_BRIDGE))) {
                found = member;
            }
        }
        return found;
    }

    private boolean accessible(ClassInfo from, ClassInfo receiver, ClassInfo.Member member) throws WeaveException {
        if (member.owner.name.equals(from.name)) {
            return true;
        }
        boolean samePackage = member.owner.packageName().equals(from.packageName());
        boolean receiverVisible = (receiver.access & Opcodes.ACC_PUBLIC) != 0
                || receiver.packageName().equals(from.packageName());
        if (member.is(Opcodes.ACC_PRIVATE) || !receiverVisible) {
            return false;
        }
        return samePackage || member.is(Opcodes.ACC_PUBLIC)
                || member.is(Opcodes.ACC_PROTECTED) && isSubclass(receiver, from.name)
                        && isSubclass(from, member.owner.name);
    }

    private boolean isSubclass(ClassInfo info, String ancestor) throws WeaveException {
        for (ClassInfo at = info;; at = find(at.superName)) {
            if (at.name.equals(ancestor)) {
                return true;
            }
            if (at.superName == null) {
                return false;
            }
        }
    }
}
