package io.plumbline.trace.htrace;

/**
 * The open scopes of this thread, the current one first. HTrace throws when a scope is closed that is not the current
 * one; a scope that we put over one of Hadoop's must never be the reason for that.
 */
final class ScopeChain {
    /** Deeper nesting than any; keeps a chain that bites its tail from hanging the application. */
    private static final int MOST = 10_000;

    private ScopeChain() {
    }

    /**
     * Takes a scope out, wherever it is.
     *
     * @return FALSE when it was not the current one: something above it was left open, or this thread's scopes were
     *     replaced
     */
    static boolean remove(PatchedTracer tracer, Object scope) {
        Object current = tracer.plumbCurrent();
        Object parent = ((PatchedScope) scope).plumbParent();
        if (current == scope) {
            tracer.plumbCurrent(parent);
            ((PatchedScope) scope).plumbParent(null);
            return true;
        }
        Object above = above(current, scope);
        if (above != null) {
            ((PatchedScope) above).plumbParent(parent);
            ((PatchedScope) scope).plumbParent(null);
        }
        return false;
    }

    /**
     * Makes one of Hadoop's scopes the current one, if nothing but scopes of ours lies over it. Otherwise all stays as
     * it is, and HTrace says what is wrong as it does without us.
     */
    static void surface(PatchedTracer tracer, Object scope) {
        Object current = tracer.plumbCurrent();
        Object above = current == scope || !own(current) ? null : above(current, scope);
        if (above == null || !onlyOwn(current, scope)) {
            return;
        }
        ((PatchedScope) above).plumbParent(((PatchedScope) scope).plumbParent());
        ((PatchedScope) scope).plumbParent(current);
        tracer.plumbCurrent(scope);
    }

    /** Are all scopes from 'from' up to, not including, 'end' ours? */
    static boolean onlyOwn(Object from, Object end) {
        Object scope = from;
        for (int i = 0; i < MOST && scope != end; i++) {
            if (!own(scope)) {
                return false;
            }
            scope = ((PatchedScope) scope).plumbParent();
        }
        return scope == end;
    }

    private static boolean own(Object scope) {
        return scope instanceof PatchedScope && ((PatchedScope) scope).plumbOwn();
    }

    /** Whose parent 'scope' is; null when it is not in the chain. */
    private static Object above(Object current, Object scope) {
        Object above = current;
        for (int i = 0; i < MOST && above instanceof PatchedScope; i++) {
            Object parent = ((PatchedScope) above).plumbParent();
            if (parent == scope) {
                return above;
            }
            above = parent;
        }
        return null;
    }
}
