package io.plumbline.trace;

import java.util.concurrent.Callable;

/** Work that goes on below the span in which it was given out. */
final class Carried {
    private Carried() {
    }

    /** @return work itself when it is neither a Callable nor a Runnable */
    static Object of(Object work, SpanRef parent, Point point) {
        if (work instanceof Callable) {
            return new Call<>((Callable<?>) work, parent, point);
        }
        return work instanceof Runnable ? new Run((Runnable) work, parent, point) : work;
    }

    private static final class Call<T> implements Callable<T> {
        private final Callable<T> work;
        private final SpanRef parent;
        private final Point point;

        Call(Callable<T> work, SpanRef parent, Point point) {
            this.work = work;
            this.parent = parent;
            this.point = point;
        }

        @Override
        public T call() throws Exception {
            Object token = Hooks.beginBelow(parent, point);
            Throwable thrown = null;
            try {
                return work.call();
            } catch (Throwable e) {
                thrown = e;
                throw e;
            } finally {
                Hooks.finish(thrown, token);
            }
        }

        @Override
        public String toString() {
            return work.toString();
        }
    }

    private static final class Run implements Runnable {
        private final Runnable work;
        private final SpanRef parent;
        private final Point point;

        Run(Runnable work, SpanRef parent, Point point) {
            this.work = work;
            this.parent = parent;
            this.point = point;
        }

        @Override
        public void run() {
            Object token = Hooks.beginBelow(parent, point);
            Throwable thrown = null;
            try {
                work.run();
            } catch (Throwable e) {
                thrown = e;
                throw e;
            } finally {
                Hooks.finish(thrown, token);
            }
        }

        @Override
        public String toString() {
            return work.toString();
        }
    }
}
