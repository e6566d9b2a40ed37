package io.plumbline.weave.code;

import io.plumbline.weave.classes.WovenMark;
import io.plumbline.weave.list.Function;
import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** Writes a class again as planned. */
public final class ClassWeaver extends ClassVisitor {
    /** Names of everything added begin with it. */
    static final String PREFIX = "plumb$";
    private static final String CARRIED = PREFIX + "carried";

    private final Plan plan;
    private final Scan scan;
    private boolean carries;
    private boolean hasField;
    private final Set<String> fields = new HashSet<>();

    private ClassWeaver(ClassVisitor out, Plan plan, Scan scan) {
        super(Opcodes.ASM9, out);
        this.plan = plan;
        this.scan = scan;
    }

    /** @throws RuntimeException when the result is no class file: too large a method, for example */
    public static byte[] weave(ClassReader reader, Plan plan, Scan scan) {
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassWeaver(writer, plan, scan), ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }

    /** The same class file, marked; {@link #weave} marks what it writes. */
    public static byte[] mark(byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public void visitEnd() {
                super.visitAttribute(new WovenMark());
                super.visitEnd();
            }
        }, 0);
        return writer.toByteArray();
    }

    @Override
    public FieldVisitor visitField(int access, String name, String descriptor, String signature,
            Object value) {
        hasField |= name.equals(CARRIED);
        return super.visitField(access, name, descriptor, signature, value);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
        MethodVisitor out = super.visitMethod(access, name, descriptor, signature, thrown);
        int next = scan.methods.get(Scan.key(name, descriptor)).maxLocals;
        // Moments lie around spans: a lock that is held from a method's return on is not held within that method's
        // span.
        for (boolean moments : new boolean[] {true, false}) {
            for (Plan.Step step : plan.steps(name, descriptor)) {
                if (step.inner == null && step.moment != null == moments) {
                    CodeAdapter adapter = adapter(step, out, next);
                    next = adapter.nextVariable();
                    out = adapter;
                }
            }
        }
        for (Plan.Step step : plan.steps(name, descriptor)) {
            if (step.inner != null) {
                out = step.moment == null ? new InnerAdapter(out, step.inner, step.site)
                        : new HandedAdapter(out, step.inner, step.site);
            }
        }
        return out;
    }

    private CodeAdapter adapter(Plan.Step step, MethodVisitor out, int next) {
        if (step.field != null) {
            return new MomentAdapter(out, step.site, next, step.moment, step.field);
        }
        boolean carry = step.site.function.kind == Function.Kind.CARRY;
        carries |= carry;
        if (step.moment == null) {
            return new SpanAdapter(out, step.site, next, carry ? CARRIED : null);
        }
        return new MomentAdapter(out, step.site, next, step.moment, carry ? CARRIED : null);
    }

    @Override
    public void visitEnd() {
        if (carries && !hasField) {
            super.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC, CARRIED,
                    "L" + Emit.SPAN_REF + ";", null, null).visitEnd();
        }
        for (Plan.Step step : plan.allSteps()) {
            if (step.moment == MomentAdapter.Moment.SINCE && fields.add(step.field)) {
                super.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC, step.field,
                        "Ljava/lang/Object;", null, null).visitEnd();
            }
            if (step.inner != null && step.moment == null) {
                step.inner.addMoved(cv, step.site);
            }
            if (step.moment == null || step.moment == MomentAdapter.Moment.RELEASE) {
                step.site.addMethods(cv);
            }
        }
        super.visitAttribute(new WovenMark());
        super.visitEnd();
    }
}
