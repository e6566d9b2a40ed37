package io.plumbline.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans from the call to the return or exception, in code of every shape. */
class SpanWeavingTest {
    /** Shapes of code; results are compared with the unwoven ones. */
    public static class Shapes implements Callable<List<Object>> {
        int field = 3;

        static long wide(long a, double b, int c) {
            double sum = a + b;
            return c > 0 ? (long) sum + c : -1;
        }

        static float manyReturns(int n) {
            if (n == 0) {
                return 1.5f;
            }
            for (int i = 0; i < n; i++) {
                if (i == 3) {
                    return i;
                }
            }
            switch (n) {
                case 1:
                    return 10;
                case 2:
                    return 20;
                default:
                    return -1;
            }
        }

        int tryFinally(boolean fail) {
            int before = field;
            try {
                if (fail) {
                    throw new IllegalStateException("inside");
                }
                return before + 1;
            } catch (IllegalStateException e) {
                return -before;
            } finally {
                field++;
            }
        }

        synchronized String locked(Object lock) {
            synchronized (lock) {
                synchronized (this) {
                    return "in " + lock;
                }
            }
        }

        int recursive(int n) {
            return n == 0 ? 0 : n + recursive(n - 1);
        }

        /** Its arguments' places are used for other things. */
        String reused(Object a, long b) {
            a = b + "x";
            b = a.hashCode();
            String text = "";
            while (b > 5) {
                long c = b / 7;
                text += c;
                b = c;
            }
            return a + text;
        }

        void thrower(String message) {
            throw new IllegalArgumentException(message);
        }

        byte[] array(int n) {
            byte[] result = new byte[n];
            for (int i = 0; i < n; i++) {
                result[i] = (byte) i;
            }
            return result;
        }

        @Override
        public List<Object> call() {
            Shapes other = new Shapes();
            String caught = "";
            try {
                thrower("as said");
            } catch (IllegalArgumentException e) {
                caught = e.getMessage();
            }
            return List.of(wide(3, 2.5, 4), wide(1, 1, 0), manyReturns(0), manyReturns(1), manyReturns(2),
                    manyReturns(9),
                    manyReturns(-1), tryFinally(true), tryFinally(false), other.locked("lock"), recursive(3),
                    reused(null, 123456), caught, array(3).length, field);
        }
    }

    private static final String ALL_SHAPES = String.join("\n", "[$Host$Shapes client]",
            "wide(long, double, int) wide a=arg1 b=arg2 c=arg3 d:=arg1 r:=return",
            "manyReturns(..) manyReturns n=arg1 r:=return",
            "tryFinally(boolean) tryFinally fail=arg1 before=this.field after:=this.field r:=return",
            "locked(Object) locked lock=arg1",
            "recursive(int) recursive n:=arg1",
            "reused(..) reused a=arg1 b=arg2 c:=arg1 d:=arg2",
            "thrower(String) thrower m:=arg1.length()",
            "array(int) array n=arg1 r:=return.length");

    @BeforeEach
    void sampled() {
        RecordingHooks.reset(RecordingHooks.Mode.SAMPLED);
    }

    @SuppressWarnings("unchecked")
    private static <T> T make(WovenClasses classes, String nested) throws Exception {
        return (T) classes.loadClass(SpanWeavingTest.class.getName() + "$" + nested).getConstructor().newInstance();
    }

    @Test
    void resultsAreTheSameInEveryMode() throws Exception {
        List<Object> expected = new Shapes().call();
        for (RecordingHooks.Mode mode : RecordingHooks.Mode.values()) {
            RecordingHooks.reset(mode);
            WovenClasses classes = WovenClasses.of(SpanWeavingTest.class, ALL_SHAPES);
            Callable<List<Object>> shapes = make(classes, "Shapes");
            assertEquals(expected, shapes.call(), mode.toString());
            List<String> events = RecordingHooks.take();
            long begun = events.stream().filter(e -> e.startsWith("begin ")).count();
            long ended = events.stream().filter(e -> e.startsWith("end ") || e.equals("leave")).count();
            assertEquals(begun, ended, mode.toString());
            assertEquals(mode == RecordingHooks.Mode.NOT_SAMPLED ? 0 : 17, begun, events.toString());
        }
    }

    @Test
    void valuesAndOrder() throws Exception {
        Callable<?> shapes = make(WovenClasses.of(SpanWeavingTest.class, ALL_SHAPES), "Shapes");
        shapes.call();
        List<String> events = RecordingHooks.take();
        assertEquals(List.of("begin thrower", "m=7:Integer", "end thrower as said",
                "begin wide", "a=3:Long b=2.5:Double c=4:Integer", "d=3:Long r=9:Long", "end wide"),
                events.subList(0, 7));
        assertEquals(List.of("begin tryFinally", "fail=true:Boolean before=3:Integer", "after=4:Integer r=-3:Integer",
                "end tryFinally"), from(events, "begin tryFinally", 4));
        assertEquals(List.of("begin locked", "lock=lock", "end locked"), from(events, "begin locked", 3));
        assertEquals(List.of("begin recursive", "begin recursive", "begin recursive", "begin recursive", "n=0:Integer",
                "end recursive", "n=1:Integer", "end recursive"), from(events, "begin recursive", 8));
        assertEquals(List.of("begin reused", "a=null b=123456:Long", "c=null d=123456:Long", "end reused"),
                from(events, "begin reused", 4));
        assertEquals(List.of("begin array", "n=3:Integer", "r=3:Integer", "end array"), from(events, "begin array", 4));
    }

    private static List<String> from(List<String> events, String first, int count) {
        int at = events.indexOf(first);
        return events.subList(at, at + count);
    }

    /** What an exception goes through is the same object. */
    public static class Thrower implements Callable<Throwable> {
        static final RuntimeException ONE = new IllegalStateException("one");
        int seen;

        int fails(int n) {
            seen = n;
            throw ONE;
        }

        @Override
        public Throwable call() {
            try {
                fails(5);
                return null;
            } catch (IllegalStateException e) {
                return e == ONE ? null : e;
            }
        }
    }

    @Test
    void exceptionsPassUnchanged() throws Exception {
        Callable<Throwable> thrower = make(WovenClasses.of(SpanWeavingTest.class,
                "[$Host$Thrower x]\nfails(int) fails seen:=this.seen r:=return k:='done' root background"), "Thrower");
        assertSame(null, thrower.call());
        assertEquals(List.of("begin fails root background", "seen=5:Integer r=null k=done", "end fails one"),
                RecordingHooks.take());
    }

    @Test
    void whatFollowsIsToldWhoseItIs() throws Exception {
        Callable<?> thrower = make(WovenClasses.of(SpanWeavingTest.class,
                "[$Host$Thrower x]\nfails(int) fails root follows"), "Thrower");
        thrower.call();
        assertEquals(List.of("of " + Thrower.class.getName(), "begin fails root", "end fails one"),
                RecordingHooks.take());
    }

    /** Constructors: of super, of this, before which nothing can run; ones that throw. */
    public static class Base {
        final String name;

        Base(String name, Object unused) {
            this.name = name;
        }
    }

    /** See above. */
    public static class Made extends Base implements Callable<String> {
        int size;

        public Made() {
            this("default");
        }

        Made(String name) {
            super(name.isEmpty() ? new String("empty") : name, new StringBuilder(name.length() > 3 ? "long" : "short"));
            if (name.startsWith("bad")) {
                throw new IllegalArgumentException(name);
            }
            size = name.length();
        }

        Made(int n) {
            super(null, null);
            for (int i = 0; i < n; i++) {
                size += i;
                if (size > 100) {
                    return;
                }
            }
        }

        @Override
        public String call() {
            assertThrows(IllegalArgumentException.class, () -> new Made("bad name"));
            return new Made("").name + new Made(4).size + new Made(400).size;
        }
    }

    @Test
    void constructors() throws Exception {
        Callable<String> made = make(WovenClasses.of(SpanWeavingTest.class,
                "[$Host$Made client]\n<init>(..) new a=arg1 name:=this.name size:=this.size"), "Made");
        assertEquals(List.of("begin new", "a=default", "name=default size=7:Integer", "end new"),
                RecordingHooks.take());
        assertEquals("empty6105", made.call());
        assertEquals(List.of("begin new", "a=bad name", "name=bad name size=0:Integer", "end new bad name",
                "begin new", "a=", "name=empty size=0:Integer", "end new",
                "begin new", "a=4:Integer", "name=null size=6:Integer", "end new",
                "begin new", "a=400:Integer", "name=null size=105:Integer", "end new"), RecordingHooks.take());
    }

    /** A method with code in an interface, and a bridge to a method of a narrower type. */
    public interface Named extends Comparable<Named> {
        default int length(String text) {
            return text.length();
        }

        static int twice(int n) {
            return 2 * n;
        }
    }

    /** See above. */
    public static class Bridged implements Named, Callable<Integer> {
        @Override
        public int compareTo(Named other) {
            return 7;
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        public Integer call() {
            return length("four") + Named.twice(3) + ((Comparable) this).compareTo(this);
        }
    }

    @Test
    void interfacesAndBridges() throws Exception {
        WovenClasses classes = WovenClasses.of(SpanWeavingTest.class, String.join("\n", "[$Host$Named client]",
                "length(String) length t=arg1.length() r:=return", "twice(int) twice r:=return n=arg1",
                "compareTo(..) abstract", "[$Host$Bridged client]", "compareTo(..) compare"));
        Callable<Integer> bridged = make(classes, "Bridged");
        assertEquals(17, bridged.call());
        assertEquals(List.of("begin length", "t=4:Integer", "r=4:Integer", "end length", "begin twice", "n=3:Integer",
                "r=6:Integer", "end twice", "begin compare", "end compare"), RecordingHooks.take());
        assertEquals(List.of("woven", "woven", "no such method", "woven"), classes.statuses());
    }
}
