package io.plumbline.trace;

/** A span's context that is told with which others it is a parent of the same span. */
public interface Together {
    /** @param contexts all of them, this one among them; not changed any more */
    void together(Object[] contexts);
}
