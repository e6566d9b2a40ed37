package io.plumbline.trace.spark;

import java.lang.reflect.Method;
import org.apache.spark.NarrowDependency;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Operations that bring records into a task: from files, a shuffle, the driver. No part of another RDD is what they
 * compute on.
 */
final class Sources {
    /** What it returns is another class with each version of Scala. */
    private static final Method DEPENDENCIES = dependencies();

    private Sources() {
    }

    private static Method dependencies() {
        try {
            return RDD.class.getMethod("dependencies");
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    static boolean has(RDD<?> rdd) throws ReflectiveOperationException {
        for (Iterator<?> all = ((Iterable<?>) DEPENDENCIES.invoke(rdd)).iterator(); all.hasNext();) {
            if (all.next() instanceof NarrowDependency) {
                return false;
            }
        }
        return true;
    }
}
