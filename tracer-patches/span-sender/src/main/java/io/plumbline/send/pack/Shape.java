package io.plumbline.send.pack;

/** What spans of one function have in common: names, and the keys and kinds of their values. One of {@link Shapes}. */
final class Shape {
    String function;
    String tracer;
    /** In its chunk, from 1. */
    int number;
    /** Of its values, in {@link Shapes}: the first and how many. */
    int first;
    int count;
}
