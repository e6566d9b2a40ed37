package io.plumbline.send.wire;

/** Thrift's compact protocol. */
public final class CompactWriter extends FieldWriter {
    private static final int MAX_DEPTH = 8;
    /** Thrift's numbers for types. */
    private static final int I32 = 5;
    private static final int I64 = 6;
    private static final int BINARY = 8;
    private static final int LIST = 9;
    private static final int STRUCT = 12;
    private static final int SHORT_LIST = 14;
    /** Of a field's head and a number. */
    private static final int MOST = 1 + FrameBuffer.MAX_VARINT;

    private final FrameBuffer out;
    /** The number of the last field of the structure at hand, and of those around it. */
    private int last;
    private final int[] around = new int[MAX_DEPTH];
    private int depth;

    public CompactWriter(FrameBuffer out) {
        this.out = out;
    }

    @Override
    public void beginStruct() {
        around[depth++] = last;
        last = 0;
    }

    @Override
    public void endStruct() {
        out.makeRoom(1);
        out.put(0);
        last = around[--depth];
    }

    private void head(int field, int type) {
        out.makeRoom(MOST);
        out.put(field - last << 4 | type);
        last = field;
    }

    @Override
    public void i32(int field, int value) {
        head(field, I32);
        out.putVarint((value << 1 ^ value >> 31) & 0xffffffffL);
    }

    @Override
    public void i64(int field, long value) {
        head(field, I64);
        out.putVarint(value << 1 ^ value >> 63);
    }

    @Override
    public void list(int field, int n) {
        head(field, LIST);
        if (n <= SHORT_LIST) {
            out.put(n << 4 | STRUCT);
        } else {
            out.put(0xf0 | STRUCT);
            out.makeRoom(FrameBuffer.MAX_VARINT);
            out.putVarint(n);
        }
    }

    @Override
    public void binary(int field, byte[] from, int offset, int length) {
        head(field, BINARY);
        out.putVarint(length);
        out.write(from, offset, length);
    }

    @Override
    public void element(byte[] from, int offset, int length) {
        out.makeRoom(FrameBuffer.MAX_VARINT);
        out.putVarint(length);
        out.write(from, offset, length);
    }
}
