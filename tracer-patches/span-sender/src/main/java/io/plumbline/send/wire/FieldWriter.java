package io.plumbline.send.wire;

/**
 * Structures as one of Thrift's protocols has them, straight into memory; the library's own give each byte to the
 * transport by itself. Only what spans need: structures, lists of structures, i32, i64 and binaries; fields in the
 * order of their numbers, in steps of at most 15. One thread.
 */
public abstract class FieldWriter {
    public abstract void beginStruct();

    public abstract void endStruct();

    public abstract void i32(int field, int value);

    public abstract void i64(int field, long value);

    /** A list of n structures, which follow. */
    public abstract void list(int field, int n);

    /** A binary, or a string in UTF-8: they look the same. */
    public abstract void binary(int field, byte[] from, int offset, int length);

    /** A binary in a list of them, whose head was written elsewhere. */
    public abstract void element(byte[] from, int offset, int length);
}
