package io.plumbline.trace.spark;

import io.plumbline.trace.Hooks;
import io.plumbline.trace.Point;
import io.plumbline.trace.SpanRef;
import scala.Function1;
import scala.runtime.AbstractFunction1;

/** A function that runs below the span in which it was handed over, each call being one of its own. */
final class CarriedFunction extends AbstractFunction1<Object, Object> {
    private final Function1<Object, Object> work;
    private final SpanRef parent;
    private final Point point;

    @SuppressWarnings("unchecked")
    CarriedFunction(Function1<?, ?> work, SpanRef parent, Point point) {
        this.work = (Function1<Object, Object>) work;
        this.parent = parent;
        this.point = point;
    }

    @Override
    public Object apply(Object argument) {
        Object token = Hooks.beginBelow(parent, point);
        Throwable thrown = null;
        try {
            return work.apply(argument);
        } catch (Throwable e) {
            thrown = e;
            throw e;
        } finally {
            Hooks.finish(thrown, token);
        }
    }
}
