package io.plumbline.load;

/** Kinds of operations, in the order that results number them. */
enum Kind {
    READ, PREAD, WRITE, APPEND, OPEN, STAT, LIST, MKDIR, RENAME, DELETE;

    private static final Kind[] ALL = values();

    static Kind of(int number) {
        return ALL[number];
    }

    static Kind named(String name) {
        for (Kind kind : ALL) {
            if (kind.name().toLowerCase(java.util.Locale.ROOT).equals(name)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("no kind of operation: " + name);
    }
}
