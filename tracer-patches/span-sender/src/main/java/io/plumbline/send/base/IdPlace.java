package io.plumbline.send.base;

/**
 * Ids as places in one splitmix64 sequence, which idl/plumb.thrift has: every id has one, and those of ids that a
 * process took one after the other (SpanIds of the runtime) are next to each other.
 */
public final class IdPlace {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final long FIRST = 0xbf58476d1ce4e5b9L;
    private static final long SECOND = 0x94d049bb133111ebL;
    /** By which the multiplications are undone, modulo 2^64. */
    private static final long UNDO_GOLDEN = 0xf1de83e19937733dL;
    private static final long UNDO_FIRST = 0x96de1b173f119089L;
    private static final long UNDO_SECOND = 0x319642b2d24d8ec3L;

    private IdPlace() {
    }

    public static long idAt(long place) {
        long z = place * GOLDEN;
        z = (z ^ z >>> 30) * FIRST;
        z = (z ^ z >>> 27) * SECOND;
        return z ^ z >>> 31;
    }

    /** {@code idAt(placeOf(id))} is the id. */
    public static long placeOf(long id) {
        long z = (id ^ id >>> 31 ^ id >>> 62) * UNDO_SECOND;
        z = (z ^ z >>> 27 ^ z >>> 54) * UNDO_FIRST;
        return (z ^ z >>> 30 ^ z >>> 60) * UNDO_GOLDEN;
    }
}
