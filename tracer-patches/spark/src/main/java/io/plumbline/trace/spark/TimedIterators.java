package io.plumbline.trace.spark;

import io.plumbline.trace.own.Operation;
import io.plumbline.trace.report.Trouble;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.concurrent.atomic.AtomicInteger;
import scala.collection.Iterator;

/**
 * Makes {@link TimedIterator}s: of a class of their own for each class of iterators inside. The JVM's compiler inlines
 * a call where it has seen no more than two classes called; through one class of ours all operations would call all
 * kinds of iterators. Copies are the same bytes, defined once more by a loader of their own, so they last as long as
 * the class that they are for.
 */
final class TimedIterators {
    /** A process that makes classes without end does not get copies without end. */
    static final int MAX_COPIES = 100;
    private static final String NAME = TimedIterator.class.getName();
    private static final int CHUNK = 4096;
    private static final byte[] BYTES = bytes();
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final ClassValue<Constructor<?>> BY_CLASS = new ClassValue<Constructor<?>>() {
        @Override
        protected Constructor<?> computeValue(Class<?> inside) {
            try {
                return BYTES == null || MADE.incrementAndGet() > MAX_COPIES ? null : copy();
            } catch (Throwable e) {
                Trouble.count(Trouble.Kind.ENGINE, e);
                return null;
            }
        }
    };

    private TimedIterators() {
    }

    static Timed of(Iterator<?> records, Operation operation) throws ReflectiveOperationException {
        Constructor<?> copy = BY_CLASS.get(records.getClass());
        return copy == null ? new TimedIterator(records, operation) : (Timed) copy.newInstance(records, operation);
    }

    private static Constructor<?> copy() throws ReflectiveOperationException {
        return new Copy(TimedIterator.class.getClassLoader()).define().getConstructor(Iterator.class, Operation.class);
    }

    /** Null where they cannot be had: then there is one class for all. */
    private static byte[] bytes() {
        try (InputStream in = TimedIterator.class.getResourceAsStream(TimedIterator.class.getSimpleName() + ".class")) {
            return in == null ? null : all(in);
        } catch (IOException | RuntimeException e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    private static byte[] all(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] chunk = new byte[CHUNK];
        for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
            out.write(chunk, 0, read);
        }
        return out.toByteArray();
    }

    /** One class, {@link TimedIterator} once more; all others are its parent's. */
    private static final class Copy extends ClassLoader {
        Copy(ClassLoader parent) {
            super(parent);
        }

        Class<?> define() {
            return defineClass(NAME, BYTES, 0, BYTES.length, TimedIterator.class.getProtectionDomain());
        }
    }
}
