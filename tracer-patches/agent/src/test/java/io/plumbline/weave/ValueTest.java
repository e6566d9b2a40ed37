package io.plumbline.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is recorded, and what cannot be. */
class ValueTest {
    /** Has an ancestor with members of every kind. */
    public static class Ancestor {
        protected long inherited = 1L << 40;
        private int hidden = 1;

        protected String inheritedMethod() {
            return "inherited";
        }

        int useHidden() {
            return hidden;
        }
    }

    /** Steps to take: by what is woven. */
    @SuppressWarnings("unused")
    public static class Chain extends Ancestor implements Callable<Object> {
        private final Chain next;
        private final String text;
        boolean flag = true;
        char letter = 'x';
        short small = -3;
        byte tiny = 4;
        float real = 0.5f;
        double precise = 0.25;
        int[] numbers = {1, 2, 3};
        byte[][] rows = new byte[5][];
        Map<String, Integer> map = Map.of("a", 1);

        public Chain() {
            this(new Chain(new Chain(null, "third"), null), "first");
        }

        private Chain(Chain next, String text) {
            this.next = next;
            this.text = text;
        }

        private Chain next() {
            return next;
        }

        Object fails() {
            throw new UnsupportedOperationException("not now");
        }

        void nothing() {
        }

        static int count() {
            return 1;
        }

        @Override
        public Object call() {
            run(this, new ArrayList<>(List.of(1, 2)), null, 8);
            return null;
        }

        void run(Chain a, Collection<Integer> b, int[] c, long d) {
        }
    }

    @BeforeEach
    void sampled() {
        RecordingHooks.reset(RecordingHooks.Mode.SAMPLED);
    }

    /** The values of Chain.run, and what the report says is missing. */
    private static String[] record(String... values) throws Exception {
        WovenClasses classes = WovenClasses.of(ValueTest.class,
                "[$Host$Chain client]\nrun(..) run " + String.join(" ", values));
        RecordingHooks.reset(RecordingHooks.Mode.SAMPLED);
        Callable<?> chain = (Callable<?>) classes.loadClass(ValueTest.class.getName() + "$Chain").getConstructor()
                .newInstance();
        chain.call();
        List<String> events = RecordingHooks.take();
        events.removeIf(e -> e.startsWith("begin") || e.startsWith("end"));
        return new String[] {String.join("; ", events), String.join("; ", classes.missing())};
    }

    private static void records(String expected, String... values) throws Exception {
        String[] got = record(values);
        assertEquals(expected, got[0]);
        assertEquals("", got[1]);
    }

    private static void lacks(String reason, String value) throws Exception {
        String[] got = record(value);
        assertEquals("", got[0]);
        assertTrue(got[1].contains(reason), got[1]);
    }

    @Test
    void everyPrimitiveType() throws Exception {
        records("a=true:Boolean b=x:Character c=-3:Integer d=4:Integer", "a=this.flag", "b=this.letter", "c=this.small",
                "d=this.tiny");
        records("a=0.5:Float b=0.25:Double c=8:Long", "a=arg1.real", "b=arg1.precise", "c=arg4");
    }

    @Test
    void chainsOfFieldsAndMethods() throws Exception {
        records("a=first b=third c=3:Integer d=5:Integer", "a=this.text", "b=arg1.next().next.text",
                "c=this.numbers.length", "d=this.rows.length");
        records("a=2:Integer b=1:Integer c=a text d=5:Integer", "a=arg2.size()", "b=arg1.map.keySet().size()",
                "c='a text'", "d=arg1.next.next.text.length()");
    }

    @Test
    void inheritedMembers() throws Exception {
        records("a=1099511627776:Long b=inherited c=1:Integer", "a=this.inherited", "b=arg1.inheritedMethod()",
                "c=this.useHidden()");
    }

    @Test
    void nullOnTheWayIsNoValue() throws Exception {
        records("a=null b=null c=null d=null", "a=arg3.length", "b=arg1.next.next.next.text.length()",
                "c=arg1.next.text",
                "d=this.next.text.length()");
    }

    @Test
    void differences() throws Exception {
        records("a=5:Long b=9:Long c=1099511627773:Long d=null", "a=arg4-this.numbers.length",
                "b=arg4-arg1.rows.length+6",
                "c=this.inherited-this.numbers.length", "d=arg4-arg1.next.next.next.numbers.length");
        lacks("is no difference of whole numbers", "a=arg4-this.text");
        lacks("Chain has no field gone", "a=arg4-this.gone");
    }

    @Test
    void exceptionsStayInside() throws Exception {
        records("unreadable UnsupportedOperationException; a=null b=first", "a=this.fails().toString()", "b=this.text");
    }

    @Test
    void whatIsNotThereIsReportedAndTheRestIsWoven() throws Exception {
        lacks("Chain has no field gone", "a=this.gone");
        lacks("Chain has no method gone", "a=this.gone()");
        lacks("Chain has no method nothing", "a=this.nothing()");
        lacks("Ancestor.hidden is not accessible from", "a=this.hidden");
        lacks("Chain.count() is static", "a=this.count()");
        lacks("the method has 4 arguments", "a=arg5");
        lacks("long has no .length()", "a=arg4.length()");
        lacks("is an array; its .length can be recorded", "a=arg3");
        lacks("is not accessible", "a=this.text.value");
        lacks("the method returns nothing", "a:=return");
        assertEquals("b=first", record("a=this.gone", "b=this.text", "c=arg9")[0]);
    }
}
