package io.plumbline.trace.spark;

import io.plumbline.trace.Operation;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * What an operation computes, its time measured. Both methods are called for every record: nothing here may cost more than
 * a few instructions. Like every iterator, for one thread at a time.
 */
final class TimedIterator extends AbstractIterator<Object> {
    private final Iterator<?> records;
    private final Operation operation;
    private boolean exhausted;

    TimedIterator(Iterator<?> records, Operation operation) {
        this.records = records;
        this.operation = operation;
    }

    @Override
    public boolean hasNext() {
        Operation before = operation.enter();
        boolean more;
        try {
            more = records.hasNext();
        } finally {
            operation.exit(before);
        }
        if (!more) {
            over();
        }
        return more;
    }

    private void over() {
        if (!exhausted) {
            exhausted = true;
            operation.exhausted();
        }
    }

    @Override
    public Object next() {
        Operation before = operation.enter();
        try {
            Object record = records.next();
            operation.record();
            return record;
        } finally {
            operation.exit(before);
        }
    }

    /** Scala 2.13 asks for it, earlier ones do not have it. */
    @Override
    public int knownSize() {
        return records.knownSize();
    }

    @Override
    public String toString() {
        return records.toString();
    }
}
