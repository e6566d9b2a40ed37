package io.plumbline.bench;

/** What is measured, woven or not. */
interface Functions {
    /** A root. */
    long alone(long x);

    /** A root with two values recorded at the call and one at the return. */
    long recorded(long x, String path);

    /** Never a root. */
    long inner(long x);

    /** A root that calls {@link #inner} so many times. */
    long outer(long x, int calls);
}
