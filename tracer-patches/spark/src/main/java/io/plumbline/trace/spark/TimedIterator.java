package io.plumbline.trace.spark;

import io.plumbline.trace.own.Operation;
import io.plumbline.trace.own.ThreadState;
import scala.collection.Iterator;

/**
 * What an operation computes, its time measured. Both methods are called for every record: nothing here may cost more
 * than a few instructions. Like every iterator, for one thread at a time. There are several classes made of this one,
 * see {@link TimedIterators}.
 */
public final class TimedIterator extends Timed {
    private final Iterator<?> records;
    private final Operation operation;
    private final ThreadState home;
    private final int number;

    public TimedIterator(Iterator<?> records, Operation operation) {
        super(records, operation);
        this.records = records;
        this.operation = operation;
        home = operation.home();
        number = operation.number();
    }

    @Override
    public boolean hasNext() {
        ThreadState state = home;
        if (!state.here()) {
            return hasNextElsewhere();
        }
        int before = state.switchTo(number);
        boolean more;
        try {
            more = records.hasNext();
        } finally {
            state.switchTo(before);
        }
        if (!more) {
            over();
        }
        return more;
    }

    @Override
    public Object next() {
        ThreadState state = home;
        if (!state.here()) {
            return nextElsewhere();
        }
        int before = state.switchTo(number);
        try {
            Object record = records.next();
            operation.record();
            return record;
        } finally {
            state.switchTo(before);
        }
    }
}
