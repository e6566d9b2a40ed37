package io.plumbline.weave.list;

/** A recorded value: key and where it comes from. Immutable. */
public final class Value {
    public final String key;
    public final Expression expression;
    /** What is taken from it, and then added; null for nothing. */
    public final Expression minus;
    public final int plus;
    /** Recorded at the return, else at the call. */
    public final boolean atReturn;

    public Value(String key, Expression expression, Expression minus, int plus, boolean atReturn) {
        this.key = key;
        this.expression = expression;
        this.minus = minus;
        this.plus = plus;
        this.atReturn = atReturn;
    }

    /** Does any part of it begin so? */
    boolean startsWith(Expression.Start start) {
        return expression.start == start || minus != null && minus.start == start;
    }

    @Override
    public String toString() {
        String taken = minus == null ? "" : "-" + minus + (plus == 0 ? "" : "+" + plus);
        return key + (atReturn ? ":=" : "=") + expression + taken;
    }
}
