package io.plumbline.bench;

/** As {@link Plain}, to the letter; functions.conf names this class. */
public class Woven implements Functions {
    private long state = 1;

    /** Some nanoseconds of work that no compiler can leave out. */
    private long work(long x) {
        state = state * 6364136223846793005L + x;
        return state >>> 33;
    }

    @Override
    public long alone(long x) {
        return work(x);
    }

    @Override
    public long recorded(long x, String path) {
        return work(x) + path.length();
    }

    @Override
    public long inner(long x) {
        return work(x);
    }

    @Override
    public long outer(long x, int calls) {
        long sum = 0;
        for (int i = 0; i < calls; i++) {
            sum += inner(x + i);
        }
        return sum;
    }
}
