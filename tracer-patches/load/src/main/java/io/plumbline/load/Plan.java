package io.plumbline.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;

/** A plan in memory. plumb has checked the file; docs/load.md has its format. */
final class Plan {
    private static final int FIELDS = 7;

    final Map<String, String> head = new LinkedHashMap<>();
    /** Bytes of each file that is made before the load; -1 where the number is of something else. */
    private long[] numbers = new long[1024];
    private int numbered;
    private int operations;
    private long[] due = new long[1024];
    private byte[] kind = new byte[1024];
    /** Operations that are due when the one before them has ended. */
    private final BitSet follows = new BitSet();
    private int[] client = new int[1024];
    private int[] file = new int[1024];
    private long[] offset = new long[1024];
    private long[] length = new long[1024];
    private String hash = "";

    static Plan read(String path) throws IOException {
        Plan plan = new Plan();
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(Files.newInputStream(Paths.get(path)), StandardCharsets.UTF_8), 1 << 16)) {
            plan.readHead(lines);
            plan.readBody(lines);
        }
        return plan;
    }

    private void readHead(BufferedReader lines) throws IOException {
        lines.readLine();
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
            int blank = line.indexOf(' ');
            head.put(line.substring(0, blank), line.substring(blank + 1));
        }
    }

    private void readBody(BufferedReader lines) throws IOException {
        String[] words = new String[FIELDS];
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int n = split(line, words);
            if (words[0].equals("o") && n == FIELDS) {
                addOperation(words);
            } else if (words[0].equals("f")) {
                addNumber(Long.parseLong(words[1]));
            } else {
                hash = words[3];
            }
        }
    }

    /** String.split() would make a list and an array for each line. */
    private static int split(String line, String[] words) {
        int n = 0;
        int from = 0;
        while (from <= line.length() && n < words.length) {
            int blank = line.indexOf(' ', from);
            int to = blank < 0 ? line.length() : blank;
            words[n++] = line.substring(from, to);
            from = to + 1;
        }
        return n;
    }

    private void addNumber(long bytes) {
        if (numbered == numbers.length) {
            numbers = Arrays.copyOf(numbers, numbered * 2);
        }
        numbers[numbered++] = bytes;
    }

    private void addOperation(String[] words) {
        int i = operations;
        if (i == due.length) {
            due = Arrays.copyOf(due, i * 2);
            kind = Arrays.copyOf(kind, i * 2);
            client = Arrays.copyOf(client, i * 2);
            file = Arrays.copyOf(file, i * 2);
            offset = Arrays.copyOf(offset, i * 2);
            length = Arrays.copyOf(length, i * 2);
        }
        Kind which = Kind.named(words[2]);
        if (which == Kind.WRITE || which == Kind.MKDIR) {
            addNumber(-1);
        }
        if (words[1].equals("+")) {
            follows.set(i);
        }
        due[i] = follows.get(i) ? due[i - 1] : Long.parseLong(words[1]);
        kind[i] = (byte) which.ordinal();
        client[i] = Integer.parseInt(words[3]);
        file[i] = Integer.parseInt(words[4]);
        offset[i] = Long.parseLong(words[5]);
        length[i] = Long.parseLong(words[6]);
        operations++;
    }

    int operations() {
        return operations;
    }

    /** Of an operation that follows another one: when its session comes. */
    long due(int i) {
        return due[i];
    }

    /** It is the next of a session: due when operation i - 1 has ended. */
    boolean follows(int i) {
        return follows.get(i);
    }

    boolean sessions() {
        return !follows.isEmpty();
    }

    boolean writes() {
        for (int i = 0; i < operations; i++) {
            if (Kind.of(kind[i]) == Kind.WRITE || Kind.of(kind[i]) == Kind.APPEND) {
                return true;
            }
        }
        return false;
    }

    int numbers() {
        return numbered;
    }

    /** Bytes of the file that is made before the load, or -1. */
    long fileBytes(int number) {
        return numbers[number];
    }

    String hash() {
        return hash;
    }

    long headNumber(String key) {
        return Long.parseLong(head.get(key));
    }

    int clients() {
        return (int) headNumber("clients");
    }

    /** Of warm-up and measurement. */
    long endNs() {
        return warmUp() + headNumber("duration-ns");
    }

    long warmUp() {
        return headNumber("warm-up-ns");
    }

    int client(int i) {
        return client[i];
    }

    /** Operations of a share that are due before then. */
    int operations(Share share, long beforeNs) {
        int n = 0;
        for (int i = 0; i < operations && due[i] < beforeNs; i++) {
            n += share.takes(client[i]) ? 1 : 0;
        }
        return n;
    }

    /** @param dueNs as the plan has it, or as a closed loop or a session comes to it */
    Operation operation(int i, long dueNs, Folder folder) {
        return new Operation(i, dueNs, Kind.of(kind[i]), client[i],
                new Operation.Target(folder.path(Kind.of(kind[i]), file[i]), offset[i], length[i]));
    }
}
