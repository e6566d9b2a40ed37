package io.plumbline.send;

import io.plumbline.wire.plumbConstants;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;

/**
 * Spans of chunks ({@link SpanWriter} has their form) to Span structures of idl/plumb.thrift, field by field, with the
 * table of strings that they refer to. One thread.
 */
final class SpanTranslator {
    private static final TStruct STRUCT = new TStruct("");
    private static final TField TRACE = new TField("trace", TType.I64, (short) 1);
    private static final TField SPAN = new TField("span", TType.I64, (short) 2);
    private static final TField BEGIN = new TField("beginNs", TType.I64, (short) 3);
    private static final TField DURATION = new TField("durationNs", TType.I64, (short) 4);
    private static final TField NAME = new TField("name", TType.I32, (short) 5);
    private static final TField TRACER = new TField("tracer", TType.I32, (short) 6);
    private static final TField FIRST_PARENT = new TField("firstParent", TType.I64, (short) 7);
    private static final TField PARENTS = new TField("parents", TType.LIST, (short) 8);
    private static final TField ANNOTATIONS = new TField("annotations", TType.LIST, (short) 9);
    private static final TField NOTES = new TField("notes", TType.LIST, (short) 10);
    private static final TField FLAGS = new TField("flags", TType.I32, (short) 11);
    private static final TField KEY = new TField("key", TType.I32, (short) 1);
    private static final TField VALUE = new TField("value", TType.STRING, (short) 2);
    private static final TField NOTE_TIME = new TField("timeNs", TType.I64, (short) 1);
    private static final TField MESSAGE = new TField("message", TType.STRING, (short) 2);
    /** Most bytes of a UTF-16 unit in UTF-8. */
    private static final int WORST = 3;

    private final Map<String, Integer> index = new HashMap<>();
    private final List<String> strings = new ArrayList<>();
    private long stringBytes;
    /** Place in the chunk's table to place in the batch's, plus 1. */
    private final int[] known = new int[Chunk.WRITTEN_OUT];
    private final Decimal decimal = new Decimal();
    private final TProtocol out;
    private String firstTracer;
    private Chunk chunk;
    private int at;

    SpanTranslator(TProtocol out) {
        this.out = out;
    }

    /** For the next batch. */
    void reset() {
        index.clear();
        strings.clear();
        stringBytes = 0;
        firstTracer = null;
        chunk = null;
    }

    /** Of all spans since reset(). */
    List<String> strings() {
        return strings;
    }

    /** The process of the first span since reset(); null when there was none. */
    String firstTracer() {
        return firstTracer;
    }

    /** How much the strings may take in UTF-8. */
    long stringBytes() {
        return stringBytes;
    }

    /** The next span of the chunk. */
    void translate(Chunk from) throws TException {
        if (chunk != from) {
            chunk = from;
            Arrays.fill(known, 0);
        }
        ByteBuffer in = from.bytes;
        int head = from.start;
        long trace = in.getLong(head + 1);
        int parents = in.getShort(head + 33);
        int annotations = in.getShort(head + 35);
        int notes = in.getShort(head + 37);
        int parentsAt = head + SpanWriter.HEAD;
        at = parentsAt + 16 * parents;
        out.writeStructBegin(STRUCT);
        i64(TRACE, trace);
        i64(SPAN, in.getLong(head + 9));
        i64(BEGIN, in.getLong(head + 17));
        i64(DURATION, in.getLong(head + 25));
        i32(NAME, name());
        int tracer = name();
        i32(TRACER, tracer);
        if (firstTracer == null) {
            firstTracer = strings.get(tracer);
        }
        writeParents(trace, parentsAt, parents);
        writeAnnotations(annotations);
        writeNotes(notes);
        if ((in.get(head) & SpanWriter.FLAG_MILLISECONDS) != 0) {
            i32(FLAGS, plumbConstants.FLAG_MILLISECONDS);
        }
        endStruct();
        from.start = at;
        from.spans--;
    }

    /** A first parent of the same trace, the usual case, is one number. */
    private void writeParents(long trace, int from, int parents) throws TException {
        int place = from;
        int rest = parents;
        if (parents > 0 && chunk.bytes.getLong(from) == trace) {
            i64(FIRST_PARENT, chunk.bytes.getLong(from + 8));
            place += 16;
            rest--;
        }
        if (rest == 0) {
            return;
        }
        beginList(PARENTS, rest);
        for (int i = 0; i < rest; i++, place += 16) {
            out.writeStructBegin(STRUCT);
            i64(TRACE, chunk.bytes.getLong(place));
            i64(SPAN, chunk.bytes.getLong(place + 8));
            endStruct();
        }
        endList();
    }

    private void writeAnnotations(int n) throws TException {
        if (n == 0) {
            return;
        }
        beginList(ANNOTATIONS, n);
        for (int i = 0; i < n; i++) {
            out.writeStructBegin(STRUCT);
            i32(KEY, name());
            out.writeFieldBegin(VALUE);
            int kind = chunk.array[at++];
            if (kind == SpanWriter.KIND_NUMBER) {
                out.writeBinary(decimal.of(chunk.bytes.getLong(at)));
                at += 8;
            } else {
                text();
            }
            out.writeFieldEnd();
            endStruct();
        }
        endList();
    }

    private void writeNotes(int n) throws TException {
        if (n == 0) {
            return;
        }
        beginList(NOTES, n);
        for (int i = 0; i < n; i++) {
            out.writeStructBegin(STRUCT);
            i64(NOTE_TIME, chunk.bytes.getLong(at));
            at += 8;
            out.writeFieldBegin(MESSAGE);
            text();
            out.writeFieldEnd();
            endStruct();
        }
        endList();
    }

    /** Strings and binaries look the same on the wire: the text is passed on as it is. */
    private void text() throws TException {
        int length = chunk.bytes.getInt(at);
        chunk.view.limit(at + 4 + length);
        chunk.view.position(at + 4);
        out.writeBinary(chunk.view);
        at += 4 + length;
    }

    /** The place of the name that comes next in the batch's table. */
    private int name() {
        int id = chunk.array[at++] & 0xff;
        if (id == Chunk.WRITTEN_OUT) {
            int length = chunk.bytes.getInt(at);
            String text = new String(chunk.array, at + 4, length, StandardCharsets.UTF_8);
            at += 4 + length;
            return intern(text);
        }
        if (known[id] == 0) {
            known[id] = intern(chunk.names[id]) + 1;
        }
        return known[id] - 1;
    }

    private int intern(String text) {
        Integer place = index.get(text);
        if (place != null) {
            return place;
        }
        int next = strings.size();
        strings.add(text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD'));
        stringBytes += (long) WORST * text.length();
        index.put(text, next);
        return next;
    }

    private void i64(TField field, long value) throws TException {
        out.writeFieldBegin(field);
        out.writeI64(value);
        out.writeFieldEnd();
    }

    private void i32(TField field, int value) throws TException {
        out.writeFieldBegin(field);
        out.writeI32(value);
        out.writeFieldEnd();
    }

    private void beginList(TField field, int n) throws TException {
        out.writeFieldBegin(field);
        out.writeListBegin(new TList(TType.STRUCT, n));
    }

    private void endList() throws TException {
        out.writeListEnd();
        out.writeFieldEnd();
    }

    private void endStruct() throws TException {
        out.writeFieldStop();
        out.writeStructEnd();
    }
}
