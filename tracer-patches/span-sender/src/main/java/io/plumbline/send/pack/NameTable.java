package io.plumbline.send.pack;

import java.util.Arrays;

/** The names of one chunk, each once, numbered from 0 in the order in which they came. One thread at a time. */
final class NameTable {
    static final int NONE = -1;
    /** Longer names are written out, lest small chunks keep much memory alive. */
    static final int MAX_CHARS = 128;

    private final String[] names;
    /** A hash table of numbers, each plus 1; 0: nothing. Twice as large as the names, so that a search ends. */
    private final short[] places;
    private int count;

    /** @param most a power of two */
    NameTable(int most) {
        names = new String[most];
        places = new short[2 * most];
    }

    /** The number of an equal name, which it gets now if need be; NONE when the table does not take it. */
    int number(String name) {
        if (name.length() > MAX_CHARS) {
            return NONE;
        }
        int mask = places.length - 1;
        int i = slot(name, mask);
        while (places[i] != 0) {
            if (names[places[i] - 1].equals(name)) {
                return places[i] - 1;
            }
            i = i + 1 & mask;
        }
        if (count == names.length) {
            return NONE;
        }
        names[count++] = name;
        places[i] = (short) count;
        return count - 1;
    }

    static int slot(String name, int mask) {
        int hash = name.hashCode();
        return (hash ^ hash >>> 16 ^ hash >>> 7) & mask;
    }

    int size() {
        return count;
    }

    String get(int number) {
        return names[number];
    }

    void clear() {
        if (count > 0) {
            Arrays.fill(names, 0, count, null);
            Arrays.fill(places, (short) 0);
            count = 0;
        }
    }
}
