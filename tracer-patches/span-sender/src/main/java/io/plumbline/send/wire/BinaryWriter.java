package io.plumbline.send.wire;

/** Thrift's binary protocol. */
final class BinaryWriter extends FieldWriter {
    /** Thrift's numbers for types. */
    private static final int I32 = 8;
    private static final int I64 = 10;
    private static final int STRING = 11;
    private static final int STRUCT = 12;
    private static final int LIST = 15;
    /** Of a field's head and what follows it. */
    private static final int MOST = 3 + 8;

    private final FrameBuffer out;

    BinaryWriter(FrameBuffer out) {
        this.out = out;
    }

    @Override
    public void beginStruct() {
        // nothing says so
    }

    @Override
    public void endStruct() {
        out.makeRoom(1);
        out.put(0);
    }

    private void head(int field, int type) {
        out.makeRoom(MOST);
        out.put(type);
        out.put(field >> 8);
        out.put(field);
    }

    @Override
    public void i32(int field, int value) {
        head(field, I32);
        out.putInt(value);
    }

    @Override
    public void i64(int field, long value) {
        head(field, I64);
        out.putInt((int) (value >> 32));
        out.putInt((int) value);
    }

    @Override
    public void list(int field, int n) {
        head(field, LIST);
        out.put(STRUCT);
        out.putInt(n);
    }

    @Override
    public void binary(int field, byte[] from, int offset, int length) {
        head(field, STRING);
        out.putInt(length);
        out.write(from, offset, length);
    }

    @Override
    public void element(byte[] from, int offset, int length) {
        out.makeRoom(MOST);
        out.putInt(length);
        out.write(from, offset, length);
    }
}
