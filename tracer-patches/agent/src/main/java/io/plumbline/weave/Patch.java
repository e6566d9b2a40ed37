package io.plumbline.weave;

import java.util.Set;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;

/**
 * A change to classes of Hadoop or HTrace that is more than a traced function. Registered in {@link Patches}; the agent
 * and the jar weaver apply the same ones. Holds no state; any thread.
 */
public interface Patch {
    /** The classes it changes, as {@code org.apache.htrace.core.MilliSpan}. Other classes never reach it. */
    Set<String> classes();

    /**
     * Null: this class is changed by {@link #change}. Else the whole class file that takes its place.
     *
     * @param original the class file as found
     * @param locator finds the class files of the same class path
     * @throws WeaveException when this version of the class is not the one the patch was made for; it then stays as it is
     */
    default byte[] replacement(String className, byte[] original, ClassFileLocator locator) throws WeaveException {
        return null;
    }

    /**
     * Does it lead to classes of ours that refer to HTrace's? Those find HTrace with the agent's class loader: what another
     * one has loaded (a web application's) stays as it is.
     */
    default boolean refersToHTrace() {
        return false;
    }

    /** @throws WeaveException as above */
    default DynamicType.Builder<?> change(DynamicType.Builder<?> builder, TypeDescription type) throws WeaveException {
        return builder;
    }
}
