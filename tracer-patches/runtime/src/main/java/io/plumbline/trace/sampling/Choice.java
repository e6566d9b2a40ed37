package io.plumbline.trace.sampling;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** What a policy says of the roots it matches: all, none, a share, so many a second, every Nth. Immutable. */
public final class Choice {
    static final String ALLOWED =
            "'always', 'never', a fraction from 0 to 1, so many a second as '5/s', or 'every 100'";
    private static final double MAX_RATE = 1_000_000;
    private static final long MAX_PERIOD = 1_000_000_000_000L;
    private static final double NANOS = 1e9;

    private enum Kind { ALWAYS, NEVER, FRACTION, RATE, EVERY }

    /** Says no, whatever it is asked about. */
    public static final Decider NO = () -> false;

    public final String text;
    private final Kind kind;
    /** Fraction, calls a second, or the N of every Nth. */
    private final double amount;

    private Choice(Kind kind, String text, double amount) {
        this.kind = kind;
        this.text = text;
        this.amount = amount;
    }

    /** @throws IllegalArgumentException saying what is allowed */
    public static Choice parse(String text) {
        if (text.equals("always")) {
            return new Choice(Kind.ALWAYS, text, 1);
        }
        if (text.equals("never")) {
            return new Choice(Kind.NEVER, text, 0);
        }
        if (text.endsWith("/s")) {
            double rate = number(text, text.substring(0, text.length() - 2).trim(), MAX_RATE);
            return new Choice(rate > 0 ? Kind.RATE : Kind.NEVER, text, rate);
        }
        if (text.startsWith("every ")) {
            return every(text);
        }
        return fraction(text);
    }

    /** @throws IllegalArgumentException for what is not from 0 to 1 */
    public static Choice fraction(String text) {
        double fraction = number(text, text, 1);
        return new Choice(fraction == 0 ? Kind.NEVER : fraction == 1 ? Kind.ALWAYS : Kind.FRACTION, text, fraction);
    }

    private static Choice every(String text) {
        double period = number(text, text.substring("every ".length()).trim(), MAX_PERIOD);
        if (period < 1 || period != Math.rint(period)) {
            throw wrong(text);
        }
        return new Choice(period == 1 ? Kind.ALWAYS : Kind.EVERY, text, period);
    }

    private static double number(String text, String number, double greatest) {
        // Java would take 0x1p-3, 1f and NaN as well.
        if (number.matches("[0-9]*\\.?[0-9]+([eE]-?[0-9]{1,3})?")) {
            double value = Double.parseDouble(number);
            if (value <= greatest) {
                return value;
            }
        }
        throw wrong(text);
    }

    private static IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException("'" + text + "' is no choice: " + ALLOWED + " is needed");
    }

    boolean never() {
        return kind == Kind.NEVER;
    }

    /**
     * Decides for one root function. Any thread, without locks and without allocating.
     *
     * @param nanos a clock as System.nanoTime()
     * @param random 64 random bits
     */
    Decider decider(LongSupplier nanos, LongSupplier random) {
        switch (kind) {
            case ALWAYS:
                return () -> true;
            case FRACTION:
                return new Share(amount, random);
            case RATE:
                return new Bucket(amount, nanos);
            case EVERY:
                long period = (long) amount;
                AtomicLong count = new AtomicLong(Math.floorMod(random.getAsLong(), period));
                return () -> count.getAndIncrement() % period == 0;
            default:
                return NO;
        }
    }

    public interface Decider {
        boolean yes();

        /**
         * The same for what has an identity: a fraction decides by it, alike in every process. @param bits well mixed
         */
        default boolean yes(long bits) {
            return yes();
        }
    }

    /** A share of all. */
    private static final class Share implements Decider {
        /** Of 53 bits, as many as a double has. */
        private final long below;
        private final LongSupplier random;

        Share(double fraction, LongSupplier random) {
            below = (long) (fraction * (1L << 53));
            this.random = random;
        }

        @Override
        public boolean yes() {
            return yes(random.getAsLong());
        }

        @Override
        public boolean yes(long bits) {
            return bits >>> 11 < below;
        }
    }

    /**
     * A bucket that holds one second's tokens (at least one) and is full at first. Kept as a single number, the time at
     * which it will be full again: a refusal, the usual answer where it matters, only reads.
     */
    private static final class Bucket implements Decider {
        private final LongSupplier nanos;
        private final long perToken;
        private final long capacity;
        private final AtomicLong fullAt;

        Bucket(double perSecond, LongSupplier nanos) {
            this.nanos = nanos;
            perToken = Math.max(1, Math.round(NANOS / perSecond));
            capacity = (long) Math.max(1, Math.floor(perSecond)) * perToken;
            fullAt = new AtomicLong(nanos.getAsLong());
        }

        @Override
        public boolean yes() {
            long now = nanos.getAsLong();
            while (true) {
                long full = fullAt.get();
                long missing = Math.max(0, full - now);
                if (missing + perToken > capacity) {
                    return false;
                }
                if (fullAt.compareAndSet(full, now + missing + perToken)) {
                    return true;
                }
            }
        }
    }
}
