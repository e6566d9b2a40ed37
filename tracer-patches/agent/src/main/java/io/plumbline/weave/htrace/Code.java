package io.plumbline.weave.htrace;

import io.plumbline.weave.WeaveException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.implementation.bytecode.ByteCodeAppender;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * Straight-line instructions, put into methods or making up whole ones. Types are named, not loaded: the agent has no
 * HTrace.
 */
final class Code {
    static final int ASM = Opcodes.ASM9;
    static final String HOOKS = "io/plumbline/trace/htrace/HTraceHooks";
    static final String TIMES = "io/plumbline/trace/htrace/SpanTimes";
    static final String TRACER = "org/apache/htrace/core/Tracer";
    static final String SCOPE = "org/apache/htrace/core/TraceScope";
    static final String OBJECT = "java/lang/Object";

    private Code() {
    }

    /** A public method of an interface of ours. */
    static DynamicType.Builder.MethodDefinition.ExceptionDefinition<?> define(DynamicType.Builder<?> builder,
            String name, Class<?> result, Class<?>... parameters) {
        return builder.defineMethod(name, result, Visibility.PUBLIC, SyntheticState.SYNTHETIC)
                .withParameters(parameters);
    }

    /** The body of a new method. @param stack and locals it needs */
    static Implementation body(int stack, int locals, Consumer<MethodVisitor> writer) {
        return new Implementation.Simple(new ByteCodeAppender() {
            @Override
            public Size apply(MethodVisitor code, Implementation.Context context, MethodDescription method) {
                writer.accept(code);
                return new Size(stack, locals);
            }
        });
    }

    /** Wraps methods of that name; {@code change} gets what comes after, and returns what comes in front of it. */
    static AsmVisitorWrapper in(ElementMatcher<? super MethodDescription> methods, Change change) {
        return new AsmVisitorWrapper.ForDeclaredMethods().writerFlags(ClassWriter.COMPUTE_MAXS).method(methods,
                (type, method, next, context, pool, writerFlags, readerFlags) -> change.around(next));
    }

    /** Instructions written at the begin of a method. */
    static Change first(Consumer<MethodVisitor> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                writer.accept(mv);
            }
        };
    }

    /** Instructions written before each return. */
    static Change last(Consumer<MethodVisitor> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitInsn(int opcode) {
                if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                    writer.accept(mv);
                }
                super.visitInsn(opcode);
            }
        };
    }

    /**
     * At each call of a method.
     *
     * @param writer gets the visitor and what writes the call itself
     */
    static Change atCall(String owner, String name, BiConsumer<MethodVisitor, Runnable> writer) {
        return next -> new MethodVisitor(ASM, next) {
            @Override
            public void visitMethodInsn(int opcode, String o, String n, String descriptor, boolean onInterface) {
                Runnable call = () -> super.visitMethodInsn(opcode, o, n, descriptor, onInterface);
                if (o.equals(owner) && n.equals(name)) {
                    writer.accept(mv, call);
                } else {
                    call.run();
                }
            }
        };
    }

    static void load(MethodVisitor code, int local) {
        code.visitVarInsn(Opcodes.ALOAD, local);
    }

    static void call(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, owner, name, descriptor, false);
    }

    static void invoke(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, owner, name, descriptor, false);
    }

    static void field(MethodVisitor code, String owner, String name, String descriptor) {
        code.visitFieldInsn(Opcodes.GETFIELD, owner, name, descriptor);
    }

    /** @throws WeaveException when this version of the class has no such field */
    static void needField(TypeDescription type, String name, String descriptor) throws WeaveException {
        if (type.getDeclaredFields().filter(ElementMatchers.named(name).and(ElementMatchers.hasDescriptor(descriptor)))
                .isEmpty()) {
            throw new WeaveException(type.getName() + " has no field " + name + " of type " + descriptor);
        }
    }

    /** @throws WeaveException when this version of the class has no such method */
    static void needMethod(TypeDescription type, String name, String descriptor) throws WeaveException {
        if (type.getDeclaredMethods().filter(method(name, descriptor)).isEmpty()) {
            throw new WeaveException(type.getName() + " has no method " + name + descriptor);
        }
    }

    static ElementMatcher.Junction<MethodDescription> method(String name, String descriptor) {
        return ElementMatchers.<MethodDescription>named(name).and(ElementMatchers.hasDescriptor(descriptor));
    }

    /** A visitor in front of another. */
    interface Change {
        MethodVisitor around(MethodVisitor next);
    }
}
