package io.plumbline.send.pack;

import io.plumbline.send.wire.FrameBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The packs of one batch (idl/plumb.thrift has the form): chunks as they were written, each with its names. One thread.
 */
public final class Packs {
    private final FrameBuffer buffer = new FrameBuffer();
    private final Map<String, Integer> index = new HashMap<>();
    private final List<String> table = new ArrayList<>();
    private int[] ends = new int[16];
    private int count;
    private int writtenOut;
    /** Of the pack before: mostly the names are the same ones, in the same order. */
    private String[] names = new String[16];
    private int[] places = new int[16];
    private int known;

    public void reset() {
        buffer.reset();
        index.clear();
        table.clear();
        count = 0;
        writtenOut = 0;
        Arrays.fill(names, 0, known, null);
        known = 0;
    }

    public void add(Chunk chunk) {
        int n = chunk.names.size();
        buffer.makeRoom((2 + n) * Varint.MOST + chunk.end);
        buffer.putVarint(chunk.spans);
        buffer.putVarint(n);
        for (int i = 0; i < n; i++) {
            String name = chunk.names.get(i);
            if (i >= known || names[i] != name) {
                remember(i, name, place(name));
            }
            buffer.putVarint(places[i]);
        }
        buffer.write(chunk.array, 0, chunk.end);
        writtenOut += chunk.writtenOut;
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, 2 * count);
        }
        ends[count++] = buffer.length;
    }

    /** As name i: all before it are known. */
    private void remember(int i, String name, int place) {
        if (i == names.length) {
            names = Arrays.copyOf(names, 2 * i);
            places = Arrays.copyOf(places, 2 * i);
        }
        names[i] = name;
        places[i] = place;
        known = Math.max(known, i + 1);
    }

    private int place(String name) {
        Integer known = index.get(name);
        if (known != null) {
            return known;
        }
        int next = table.size();
        table.add(name.indexOf('\0') < 0 ? name : name.replace('\0', '\uFFFD'));
        index.put(name, next);
        return next;
    }

    public int size() {
        return count;
    }

    public byte[] bytes() {
        return buffer.bytes;
    }

    public int begin(int pack) {
        return pack == 0 ? 0 : ends[pack - 1];
    }

    public int end(int pack) {
        return ends[pack];
    }

    /** The names that packs share, in the order of their numbers. */
    public List<String> table() {
        return table;
    }

    /** How many there are, with those that stand among the spans. */
    public int strings() {
        return table.size() + writtenOut;
    }
}
