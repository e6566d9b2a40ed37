package io.plumbline.weave;

/** A recorded value: key and where it comes from. Immutable. */
final class Value {
    final String key;
    final Expression expression;
    /** Recorded at the return, else at the call. */
    final boolean atReturn;

    Value(String key, Expression expression, boolean atReturn) {
        this.key = key;
        this.expression = expression;
        this.atReturn = atReturn;
    }

    @Override
    public String toString() {
        return key + (atReturn ? ":=" : "=") + expression;
    }
}
