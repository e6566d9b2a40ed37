package io.plumbline.trace.spark;

import io.plumbline.trace.own.Operation;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** What an operation computes, its time measured; all but the two methods that are called for every record. */
public abstract class Timed extends AbstractIterator<Object> {
    private final Iterator<?> source;
    private final Operation operation;
    private boolean exhausted;

    protected Timed(Iterator<?> source, Operation operation) {
        this.source = source;
        this.operation = operation;
    }

    /** Each time that there is nothing more. */
    protected final void over() {
        if (!exhausted) {
            exhausted = true;
            operation.exhausted();
        }
    }

    /** In another thread than the task's. */
    protected final boolean hasNextElsewhere() {
        int before = operation.enter();
        boolean more;
        try {
            more = source.hasNext();
        } finally {
            operation.exit(before);
        }
        if (!more) {
            over();
        }
        return more;
    }

    protected final Object nextElsewhere() {
        int before = operation.enter();
        try {
            Object record = source.next();
            operation.record();
            return record;
        } finally {
            operation.exit(before);
        }
    }

    /** Scala 2.13 asks for it, earlier ones do not have it. */
    @Override
    public int knownSize() {
        return source.knownSize();
    }

    @Override
    public String toString() {
        return source.toString();
    }
}
