package io.plumbline.weave.code;

import io.plumbline.weave.classes.ClassInfo;
import io.plumbline.weave.list.Function;
import io.plumbline.weave.list.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * One function in one method: its values, and the methods that are added to the class for them. What is added to the
 * function itself stays small and without branches that way: it is the application's compiled code that it is in.
 */
final class Site {
    private static final int ADDED = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;

    /** Of the method for what is taken from a value, after the value's own. */
    private static final String MINUS = "minus";

    final Function function;
    final ClassInfo self;
    final ClassInfo.Member method;
    final List<CompiledValue> enter;
    final List<CompiledValue> exit;
    /** What all added methods' names begin with. */
    private final String prefix;

    Site(Function function, ClassInfo self, ClassInfo.Member method, List<CompiledValue> enter,
            List<CompiledValue> exit, String prefix) {
        this.function = function;
        this.self = self;
        this.method = method;
        this.enter = enter;
        this.exit = exit;
        this.prefix = prefix;
    }

    /** Of a method that is added for it. */
    String methodName(String what) {
        return prefix + what;
    }

    boolean isStatic() {
        return method.is(Opcodes.ACC_STATIC);
    }

    Type result() {
        return Type.getReturnType(method.descriptor);
    }

    boolean usesResult() {
        return exit.stream().anyMatch(CompiledValue::usesResult);
    }

    /** The local variables that values begin with, by their place. */
    static SortedMap<Integer, Type> sources(List<CompiledValue> values) {
        SortedMap<Integer, Type> sources = new TreeMap<>();
        values.forEach(value -> addSource(value, sources));
        return sources;
    }

    private static void addSource(CompiledValue value, SortedMap<Integer, Type> sources) {
        if (value.source >= 0) {
            sources.put(value.source, value.root);
        }
        if (value.minus != null) {
            addSource(value.minus, sources);
        }
    }

    /**
     * Keys are those of the values that there are. Between two methods both must say the same: all keys of the line; a
     * value that there is not is null.
     */
    void point(MethodVisitor out) {
        boolean between = function.kind == Function.Kind.BETWEEN;
        Stream<String> enterKeys = between ? function.values.stream().map(v -> v.key) : enter.stream().map(v -> v.key);
        Emit.point(out, function, enterKeys.collect(Collectors.joining(",")),
                exit.stream().map(v -> v.key).collect(Collectors.joining(",")));
    }

    /** With the token and then the sources on the stack: records the values of the call. */
    void callValues(MethodVisitor out) {
        call(out, "enter", enterDescriptor());
    }

    /** With the result (if it is used), the token and the sources on the stack. */
    void callExit(MethodVisitor out) {
        call(out, "exit", exitDescriptor(result()));
    }

    /** With the exception, the token and the sources on the stack. */
    void callFail(MethodVisitor out) {
        call(out, "fail", failDescriptor());
    }

    /** With the owner (null for none) and the sources on the stack. */
    void callRelease(MethodVisitor out) {
        call(out, "release", enterDescriptor());
    }

    private void call(MethodVisitor out, String name, String descriptor) {
        out.visitMethodInsn(Opcodes.INVOKESTATIC, self.name, prefix + name, descriptor, self.isInterface());
    }

    private String enterDescriptor() {
        return descriptor("Ljava/lang/Object;", sources(enter));
    }

    private String exitDescriptor(Type result) {
        return descriptor((usesResult() ? result.getDescriptor() : "") + "Ljava/lang/Object;", sources(exit));
    }

    private String failDescriptor() {
        return descriptor("Ljava/lang/Throwable;Ljava/lang/Object;", sources(exit));
    }

    private static String descriptor(String first, SortedMap<Integer, Type> sources) {
        StringBuilder descriptor = new StringBuilder("(").append(first);
        sources.values().forEach(type -> descriptor.append(type.getDescriptor()));
        return descriptor.append(")V").toString();
    }

    /** Adds the methods to the class. */
    void addMethods(ClassVisitor out) {
        boolean between = function.kind == Function.Kind.BETWEEN;
        if (between) {
            addRelease(out);
        } else if (!enter.isEmpty()) {
            addEnter(out);
        }
        if (!exit.isEmpty()) {
            addExit(out, true);
            addExit(out, false);
        }
        addValues(out, enter, "at");
        addValues(out, exit, "after");
    }

    private void addValues(ClassVisitor out, List<CompiledValue> values, String side) {
        for (int i = 0; i < values.size(); i++) {
            addValue(out, values.get(i), prefix + side + i);
        }
    }

    private static void addValue(ClassVisitor out, CompiledValue value, String name) {
        if (value.needsMethod()) {
            value.body(out.visitMethod(ADDED, name, value.methodDescriptor(), null, null));
        }
        if (value.minus != null) {
            addValue(out, value.minus, name + MINUS);
        }
    }

    private void addEnter(ClassVisitor out) {
        String descriptor = enterDescriptor();
        MethodVisitor code = begin(out, "enter", descriptor);
        Label recorded = new Label();
        code.visitVarInsn(Opcodes.ALOAD, 0);
        Emit.hook(code, "open", "(O)Z");
        code.visitJumpInsn(Opcodes.IFNE, recorded);
        code.visitInsn(Opcodes.RETURN);
        code.visitLabel(recorded);
        Emit.frame(code, locals(descriptor));
        code.visitVarInsn(Opcodes.ALOAD, 0);
        point(code);
        pushValues(code, enter, "at", places(sources(enter), 1), -1);
        Emit.hook(code, "values", "(OPOOOO)V");
        end(code);
    }

    private void addRelease(ClassVisitor out) {
        String descriptor = enterDescriptor();
        MethodVisitor code = begin(out, "release", descriptor);
        Label recorded = new Label();
        code.visitVarInsn(Opcodes.ALOAD, 0);
        point(code);
        Emit.hook(code, "release", "(OP)O");
        code.visitVarInsn(Opcodes.ASTORE, 0);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitJumpInsn(Opcodes.IFNONNULL, recorded);
        code.visitInsn(Opcodes.RETURN);
        code.visitLabel(recorded);
        Emit.frame(code, locals(descriptor));
        code.visitVarInsn(Opcodes.ALOAD, 0);
        pushValues(code, enter, "at", places(sources(enter), 1), -1);
        Emit.hook(code, "released", "(OOOOO)V");
        end(code);
    }

    /** @param returned at the return, else when the method throws: what comes from the result is left out then */
    private void addExit(ClassVisitor out, boolean returned) {
        String descriptor = returned ? exitDescriptor(result()) : failDescriptor();
        MethodVisitor code = begin(out, returned ? "exit" : "fail", descriptor);
        int token = !returned ? 1 : usesResult() ? result().getSize() : 0;
        Label recorded = new Label();
        code.visitVarInsn(Opcodes.ALOAD, token);
        Emit.hook(code, "open", "(O)Z");
        code.visitJumpInsn(Opcodes.IFNE, recorded);
        thrown(code, returned);
        code.visitVarInsn(Opcodes.ALOAD, token);
        Emit.hook(code, "finish", "(TO)V");
        code.visitInsn(Opcodes.RETURN);
        code.visitLabel(recorded);
        Emit.frame(code, locals(descriptor));
        code.visitVarInsn(Opcodes.ALOAD, token);
        point(code);
        pushValues(code, exit, "after", places(sources(exit), token + 1), returned ? 0 : -1);
        thrown(code, returned);
        Emit.hook(code, "end", "(OPOOOOT)V");
        end(code);
    }

    private static void thrown(MethodVisitor code, boolean returned) {
        if (returned) {
            code.visitInsn(Opcodes.ACONST_NULL);
        } else {
            code.visitVarInsn(Opcodes.ALOAD, 0);
        }
    }

    private MethodVisitor begin(ClassVisitor out, String name, String descriptor) {
        MethodVisitor code = out.visitMethod(ADDED, prefix + name, descriptor, null, null);
        code.visitCode();
        return code;
    }

    private static void end(MethodVisitor code) {
        code.visitInsn(Opcodes.RETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
    }

    private static Object[] locals(String descriptor) {
        List<Object> locals = new ArrayList<>();
        for (Type type : Type.getArgumentTypes(descriptor)) {
            locals.add(Emit.frameType(type));
        }
        return locals.toArray();
    }

    /** Where the added method has what was at another place in the function. */
    private static SortedMap<Integer, Integer> places(SortedMap<Integer, Type> sources, int first) {
        SortedMap<Integer, Integer> places = new TreeMap<>();
        int next = first;
        for (SortedMap.Entry<Integer, Type> source : sources.entrySet()) {
            places.put(source.getKey(), next);
            next += source.getValue().getSize();
        }
        return places;
    }

    /** Pushes as many objects as Hooks take. @param result where the result is; -1: there is none */
    private void pushValues(MethodVisitor code, List<CompiledValue> values, String side,
            SortedMap<Integer, Integer> places, int result) {
        List<CompiledValue> inPlace = function.kind == Function.Kind.BETWEEN ? inPlace(values) : values;
        for (int i = 0; i < Function.MAX_VALUES; i++) {
            CompiledValue value = i < inPlace.size() ? inPlace.get(i) : null;
            if (value == null || value.usesResult() && result < 0) {
                code.visitInsn(Opcodes.ACONST_NULL);
            } else {
                pushValue(code, value, side + values.indexOf(value), places, result);
            }
        }
    }

    private void pushValue(MethodVisitor code, CompiledValue value, String name, SortedMap<Integer, Integer> places,
            int result) {
        if (value.source != CompiledValue.TEXT) {
            Emit.load(code, value.root, value.source == CompiledValue.RESULT ? result : places.get(value.source));
        }
        if (value.needsMethod()) {
            call(code, name, value.methodDescriptor());
        } else {
            value.push(code);
        }
        if (value.minus != null) {
            pushValue(code, value.minus, name + MINUS, places, result);
            code.visitLdcInsn(value.plus);
            Emit.hook(code, "difference", "(OOI)O");
        }
    }

    private List<CompiledValue> inPlace(List<CompiledValue> values) {
        List<CompiledValue> all = new ArrayList<>();
        for (Value declared : function.values) {
            all.add(values.stream().filter(v -> v.key.equals(declared.key)).findFirst().orElse(null));
        }
        return all;
    }
}
