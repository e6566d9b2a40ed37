package io.plumbline.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.SpanRef;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans carried into other threads, spans between two functions, and lines that do not weave. */
class KindsTest {
    /** Work for another thread. */
    public static class Task implements Callable<String>, Serializable {
        private final String name;

        public Task() {
            this("made");
        }

        Task(String name) {
            this.name = name;
        }

        @Override
        public String call() {
            return name;
        }
    }

    /** Takes and gives. */
    public static class Lock implements Callable<String> {
        void take() {
        }

        int takeQuickly(int n) {
            return n;
        }

        void give() {
            give("by itself");
        }

        void give(String why) {
        }

        static void takeAll() {
        }

        static void giveAll(int n) {
        }

        @Override
        public String call() {
            take();
            give();
            takeQuickly(3);
            give("said");
            takeAll();
            giveAll(4);
            return "";
        }
    }

    @BeforeEach
    void sampled() {
        RecordingHooks.reset(RecordingHooks.Mode.SAMPLED);
    }

    @SuppressWarnings("unchecked")
    private static <T> T make(WovenClasses classes, String nested) throws Exception {
        return (T) classes.loadClass(KindsTest.class.getName() + "$" + nested).getConstructor().newInstance();
    }

    @Test
    void carried() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class,
                "[$Host$Task client]\ncarry <init>(..) -> call() work name=this.name r:=return");
        Callable<String> alone = make(classes, "Task");
        RecordingHooks.current = new SpanRef(1, 42);
        Callable<String> below = make(classes, "Task");
        RecordingHooks.current = null;
        assertEquals("made", alone.call());
        assertEquals(List.of(), RecordingHooks.take());
        assertEquals("made", below.call());
        assertEquals("made", below.call());
        List<String> once = List.of("below 42 work", "name=made", "r=made", "end work");
        List<String> events = RecordingHooks.take();
        assertEquals(once, events.subList(0, 4));
        assertEquals(once, events.subList(4, 8));
        assertEquals(List.of("woven"), classes.statuses());
    }

    /** Serialized forms of woven and unwoven classes are the same. */
    @Test
    void serialVersionStays() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class,
                "[$Host$Task client]\ncarry <init>(..) -> call() work name=this.name r:=return");
        Class<?> woven = classes.loadClass(Task.class.getName());
        assertTrue(List.of(woven.getDeclaredFields()).toString().contains("plumb$carried"));
        assertEquals(ObjectStreamClass.lookup(Task.class).getSerialVersionUID(),
                ObjectStreamClass.lookup(woven).getSerialVersionUID());
    }

    @Test
    void between() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class, String.join("\n", "[$Host$Lock namenode]",
                "between take() give(..) held why=arg1 who='it'",
                "between takeQuickly(int) give(..) held why=arg1 who='it'",
                "between takeAll() giveAll(..) all gone=arg1.field n=arg1"));
        make(classes, "Lock");
        ((Callable<?>) make(classes, "Lock")).call();
        assertEquals(
                List.of("hold held owned [why, who]", "released held why=by itself who=it",
                        "hold held owned [why, who]",
                        "released held why=said who=it", "hold all [gone, n]", "released all gone=null n=4:Integer"),
                RecordingHooks.take());
        assertEquals(List.of("woven", "woven", "woven"), classes.statuses());
        assertTrue(classes.missing().get(0).contains("int has no .field"), classes.missing().toString());
    }

    /** Work that one thread hands in and another does, calls in code, and clones of arrays. */
    public static class Steps implements Callable<String> {
        private final int[] numbers = {1, 2};

        void handIn(long a, double b) {
        }

        boolean done() {
            return true;
        }

        Callable<String> work(String text) {
            return () -> text + text;
        }

        String code(StringBuilder text, long n) {
            text.append(n).append("x").append(n + 1);
            return text.toString() + Long.toString(n).length() + numbers.clone().length;
        }

        @Override
        public String call() throws Exception {
            handIn(1, 2);
            return done() + work("a").call() + code(new StringBuilder(), 5);
        }
    }

    @Test
    void acrossAndWithinAndResults() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class, String.join("\n", "[$Host$Steps namenode]",
                "across handIn(..) done() pending", "carry work(..) -> return later", "carry code(..) -> return none",
                "within code(..) append(long) append n=arg1", "within code(..) toString(long) text r:=return n=arg1",
                "within code(..) clone() cloned", "within call() gone() gone"));
        Callable<String> steps = make(classes, "Steps");
        RecordingHooks.current = new SpanRef(1, 7);
        assertEquals("trueaa5x612", steps.call());
        assertEquals(List.of("until 7 pending", "carry later", "begin append", "n=5:Long", "end append", "begin append",
                "n=6:Long", "end append", "begin text", "n=5:Long", "r=5", "end text", "begin cloned", "end cloned"),
                RecordingHooks.take());
        assertEquals(List.of("woven", "woven", "no such method", "woven", "woven", "woven", "no such method"),
                classes.statuses());
    }

    /** Hands work on, as a lambda. */
    public static class Boss implements Callable<String> {
        private static String run(String how, Callable<String> work) throws Exception {
            return how + work.call();
        }

        @Override
        public String call() throws Exception {
            return run("a", () -> "b") + run("c", () -> "d").concat("e");
        }
    }

    @Test
    void whatIsHandedOnIsCarried() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class, String.join("\n", "[$Host$Boss namenode]",
                "carry call() -> run(String, Callable) work", "carry call() -> concat(String) none"));
        Callable<String> boss = make(classes, "Boss");
        assertEquals("abcde", boss.call());
        assertEquals(List.of("carry work", "carry work"), RecordingHooks.take());
        assertEquals(List.of("woven", "no such method"), classes.statuses());
    }

    @Test
    void firstLineCountsAndOffIsOff() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class, String.join("\n", "[$Host$Lock namenode]",
                "take() mine", "take() theirs", "give(..) given", "off give(String)", "takn(..) typo",
                "take(int) none"));
        ((Callable<?>) make(classes, "Lock")).call();
        assertEquals(List.of("begin mine", "end mine", "begin given", "end given"), RecordingHooks.take());

        classes = WovenClasses.of(KindsTest.class, "[$Host$Lock namenode]\ngive(..) given why=arg1");
        ((Callable<?>) make(classes, "Lock")).call();
        assertEquals(List.of("begin given", "why=by itself", "end given", "begin given", "why=said", "end given"),
                RecordingHooks.take());
    }

    @Test
    void reasonsAreGiven() throws Exception {
        WovenClasses classes = WovenClasses.of(KindsTest.class, String.join("\n", "[$Host$Lock namenode]",
                "take() mine", "take() theirs", "give(..) given", "off give(String)", "takn(..) typo",
                "take(int) none"));
        assertEquals(List.of("woven", "covered by another line", "woven", "off", "no such method", "no such method"),
                classes.statuses());
        List<Finding> findings = classes.report.findings(Finding.Status.NO_CLASS);
        assertEquals("no method takn; did you mean \"take\"?", findings.get(4).detail);
        assertEquals("test.conf:7: no such method: " + Lock.class.getName() + " take(int): there is take()",
                findings.get(5).toString());
    }

    /** A scope of Hadoop's, opened by what is named here as Hadoop's. */
    @Test
    void leftAloneWhereTracedAlready() throws Exception {
        byte[] file = call("org/example/Native", "()Lorg/apache/htrace/core/TraceScope;");
        WovenClasses classes = WovenClasses.of("org.example.Native", file,
                "[org.example.Native x]\nrun() a unless-traced\nrun() b");
        assertEquals(List.of("traced by its own code", "woven"), classes.statuses());
    }

    /** A class with a static method run that calls newScope. */
    private static byte[] call(String name, String descriptor) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, name, null, "java/lang/Object", null);
        MethodVisitor code = writer.visitMethod(Opcodes.ACC_STATIC, "run", "()V", null, null);
        code.visitCode();
        code.visitMethodInsn(Opcodes.INVOKESTATIC, name, "newScope", descriptor, false);
        code.visitInsn(Opcodes.POP);
        code.visitInsn(Opcodes.RETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
        writer.visitEnd();
        return writer.toByteArray();
    }

    private static WeaveReport weaveTwice(byte[] file, String name, String list) throws Exception {
        WeaveReport report = new WeaveReport();
        Weaver weaver =
                new Weaver(FunctionList.parse(new StringReader(list), "l", false), report, Collections.emptyList());
        ClassFiles others = ClassFiles.of(KindsTest.class.getClassLoader());
        byte[] once = weaver.weave(name, file, others);
        assertNull(weaver.weave(name, once, others));
        return report;
    }

    @Test
    void notWovenTwice() throws Exception {
        String name = Lock.class.getName();
        WeaveReport report = weaveTwice(WovenClasses.file(name), name, "[" + name + " x]\ntake() take");
        assertEquals(Finding.Status.AHEAD, report.findings(Finding.Status.NO_CLASS).get(0).status());
    }

    @Test
    void sameInputSameOutput() throws Exception {
        String name = Lock.class.getName();
        String list =
                "[" + name + " x]\ntake() take\nbetween take() give(..) held a=arg1\ngive(..) given a=arg1 b:=arg1";
        byte[][] outputs = new byte[2][];
        for (int i = 0; i < 2; i++) {
            outputs[i] = new Weaver(FunctionList.parse(new StringReader(list), "l", false), new WeaveReport(),
                    Collections.emptyList()).weave(name, WovenClasses.file(name),
                            ClassFiles.of(KindsTest.class.getClassLoader()));
        }
        assertTrue(Arrays.equals(outputs[0], outputs[1]));
    }

    /** One function is as large as a class file can hold: it is left as it is, and the others are woven. */
    @Test
    void tooLargeForMore() throws Exception {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "org/example/Large", null, "java/lang/Object", null);
        for (String name : new String[] {"small", "large"}) {
            MethodVisitor code = writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, name, "()V", null, null);
            code.visitCode();
            for (int i = 0; i < (name.equals("large") ? 65530 : 1); i++) {
                code.visitInsn(Opcodes.NOP);
            }
            code.visitInsn(Opcodes.RETURN);
            code.visitMaxs(0, 0);
            code.visitEnd();
        }
        writer.visitEnd();
        WovenClasses classes = WovenClasses.of("org.example.Large", writer.toByteArray(),
                "[org.example.Large x]\nlarge() large\nsmall() small\nsmall() again");
        Class<?> large = classes.loadClass("org.example.Large");
        large.getMethod("large").invoke(null);
        large.getMethod("small").invoke(null);
        assertEquals(List.of("begin small", "end small"), RecordingHooks.take());
        assertEquals(List.of("failed", "woven", "covered by another line"), classes.statuses());
    }

    @Test
    void olderThanJava7() throws Exception {
        byte[] file = call("org/example/Old", "()V");
        file[7] = Opcodes.V1_6;
        assertEquals(List.of("failed"), WovenClasses.of("org.example.Old", file,
                "[org.example.Old x]\nrun() a").statuses());
    }

    @Test
    void whatIsNoClassFile() throws Exception {
        WeaveReport report = new WeaveReport();
        Weaver weaver =
                new Weaver(FunctionList.parse(new StringReader("[org.example.No x]\nrun() a"), "l", false), report,
                        Collections.emptyList());
        assertNull(weaver.weave("org.example.No", new byte[100], name -> null));
        assertEquals(Finding.Status.FAILED, report.findings(Finding.Status.NO_CLASS).get(0).status());
    }
}
