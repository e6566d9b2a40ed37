package io.plumbline.weave.spark;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** A change to one class of Spark. */
abstract class SparkPatch implements Patch {
    private final Set<String> classes;

    SparkPatch(String className) {
        classes = Collections.singleton(className);
    }

    static List<Patch> all() {
        return Arrays.asList(new RunnerPatch(), new TaskPatch(), new RddPatch(), new TaskContextPatch(),
                new ParmapPatch());
    }

    @Override
    public final Set<String> classes() {
        return classes;
    }

    @Override
    public final boolean ownLoaderOnly() {
        return true;
    }

    @Override
    public final byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        change(edit);
        return edit.bytes();
    }

    /** @throws WeaveException when this version of the class is not one that the patch was made for */
    abstract void change(ClassEdit edit) throws WeaveException;
}
