package io.plumbline.load;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * What became of each operation, written as it happens: records of 64 bytes, each with a check sum of its own, so that
 * whatever is in the file when the process is killed can be read. docs/load.md has the format. Any thread.
 */
final class ResultFile implements Closeable {
    static final int RECORD_BYTES = 64;
    private static final int CHECKED_BYTES = 60;
    private static final int TEXT_BYTES = 52;
    private static final int TEXT_PARTS_MOST = 8;
    private static final int TEXTS_MOST = 1000;
    private static final int UNFINISHED = 1;

    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(1024 * RECORD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32 crc = new CRC32();
    private final Map<String, Integer> texts = new HashMap<>();

    ResultFile(String path, Map<String, String> head) throws IOException {
        channel = FileChannel.open(Paths.get(path), StandardOpenOption.WRITE, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING);
        StringBuilder text = new StringBuilder("plumb-load-result 1\n");
        for (Map.Entry<String, String> line : head.entrySet()) {
            text.append(line.getKey()).append(' ').append(line.getValue().replaceAll("[\\x00-\\x1f]", " "))
                    .append('\n');
        }
        drain(ByteBuffer.wrap(text.append('\n').toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** @param thrown what it ended with; null: it did what it should */
    void ended(Operation operation, long endNs, long bytes, Throwable thrown) throws IOException {
        synchronized (this) {
            put(operation, endNs, bytes, thrown == null ? 0 : number(thrown), 0);
        }
    }

    /** It was still going on when the run ended, or had not begun. */
    void unfinished(Operation operation, long endNs) throws IOException {
        synchronized (this) {
            put(operation, endNs, 0, 0, UNFINISHED);
        }
    }

    /** @param due operations that were handed on, in the order of the plan */
    void end(StopReason reason, long endNs, long due) throws IOException {
        synchronized (this) {
            begin('e', reason.ordinal(), 0, 0);
            buffer.putLong(endNs).putLong(due);
            seal();
        }
    }

    void flush() throws IOException {
        synchronized (this) {
            buffer.flip();
            try {
                drain(buffer);
            } finally {
                buffer.clear();
            }
        }
    }

    private void put(Operation operation, long endNs, long bytes, int error, int flags) throws IOException {
        begin('o', operation.kind.ordinal(), error, (int) Math.min(operation.lateNs / 1000, Integer.MAX_VALUE));
        buffer.putLong(operation.dueNs).putLong(operation.beginNs == 0 ? endNs : operation.beginNs).putLong(endNs)
                .putLong(bytes).putLong(operation.trace).putLong(operation.number).putInt(flags);
        seal();
    }

    /** Of the class of what was thrown; written down with the first message of it. */
    private int number(Throwable thrown) throws IOException {
        String name = thrown.getClass().getSimpleName();
        Integer known = texts.get(name);
        if (known != null) {
            return known;
        }
        int number = Math.min(texts.size() + 1, TEXTS_MOST);
        texts.put(name, number);
        String message = String.valueOf(thrown.getMessage());
        int line = message.indexOf('\n');
        putText(number, name + ": " + (line < 0 ? message : message.substring(0, line)));
        return number;
    }

    private void putText(int number, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, TEXT_BYTES * TEXT_PARTS_MOST);
        for (int part = 0; part * TEXT_BYTES < length; part++) {
            begin('t', part, number, length);
            buffer.put(bytes, part * TEXT_BYTES, Math.min(TEXT_BYTES, length - part * TEXT_BYTES));
            seal();
        }
    }

    private void begin(int type, int small, int number, int value) throws IOException {
        if (buffer.remaining() == 0) {
            flush();
        }
        buffer.put((byte) type).put((byte) small).putShort((short) number).putInt(value);
    }

    /** The rest of the record is 0; its last four bytes are the check sum. */
    private void seal() {
        int begin = (buffer.position() - 1) / RECORD_BYTES * RECORD_BYTES;
        while (buffer.position() < begin + CHECKED_BYTES) {
            buffer.put((byte) 0);
        }
        crc.reset();
        crc.update(buffer.array(), begin, CHECKED_BYTES);
        buffer.putInt((int) crc.getValue());
    }

    private void drain(ByteBuffer full) throws IOException {
        while (full.hasRemaining()) {
            channel.write(full);
        }
    }

    @Override
    public void close() throws IOException {
        flush();
        channel.force(true);
        channel.close();
    }
}
