package io.plumbline.weave.classes;

import java.util.Set;

/**
 * A change to classes of Hadoop or HTrace that is more than a traced function. Registered in {@code Patches}; the agent
 * and the jar weaver apply the same ones. Holds no state; any thread.
 */
public interface Patch {
    /** The classes it changes, as {@code org.apache.htrace.core.MilliSpan}. Other classes never reach it. */
    Set<String> classes();

    /**
     * The class file that takes the original's place.
     *
     * @param original the class file as found; not changed
     * @param files of the same class path
     * @throws WeaveException when this version of the class is not the one the patch was made for; it then stays as it
     * is
     */
    byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException;

    /**
     * Does it lead to classes of ours that refer to HTrace's or Spark's? Those find them with the agent's class loader:
     * what another one has loaded (a web application's) stays as it is.
     */
    default boolean ownLoaderOnly() {
        return false;
    }
}
