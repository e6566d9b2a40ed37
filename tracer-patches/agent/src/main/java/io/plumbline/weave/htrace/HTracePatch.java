package io.plumbline.weave.htrace;

import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.util.Collections;
import java.util.Set;

/** Changes one class, which then calls HTraceHooks or is what our engine takes it for. */
abstract class HTracePatch implements Patch {
    private final Set<String> classes;

    HTracePatch(String className) {
        classes = Collections.singleton(className);
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
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        ClassEdit edit = new ClassEdit(original);
        change(edit);
        return edit.bytes();
    }

    /** @throws WeaveException when this version of the class is not the one the patch was made for */
    abstract void change(ClassEdit edit) throws WeaveException;
}
