package io.plumbline.send;

import java.nio.ByteBuffer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;

/**
 * Thrift's compact protocol, where spans need it, straight into memory: the library's own gives each byte to the
 * transport by itself, which makes a span a quarter dearer. Only for structures, lists of structures, i32, i64 and
 * binaries.
 */
final class CompactWriter extends TCompactProtocol {
    private static final int MAX_DEPTH = 8;
    /** Thrift's numbers for what may be the type of a field here. */
    private static final int COMPACT_I32 = 5;
    private static final int COMPACT_I64 = 6;
    private static final int COMPACT_BINARY = 8;
    private static final int COMPACT_LIST = 9;
    private static final int COMPACT_STRUCT = 12;
    private static final int SHORT_LIST = 14;
    private static final int SHORT_DELTA = 15;

    private final FrameBuffer out;
    /** The number of the last field, of the structure at hand and of those around it. */
    private final int[] lastField = new int[MAX_DEPTH];
    private int depth;

    CompactWriter(FrameBuffer out) {
        super(out);
        this.out = out;
    }

    @Override
    public void writeStructBegin(TStruct struct) {
        lastField[++depth] = 0;
    }

    @Override
    public void writeStructEnd() {
        depth--;
    }

    @Override
    public void writeFieldBegin(TField field) {
        int delta = field.id - lastField[depth];
        if (delta > 0 && delta <= SHORT_DELTA) {
            out.put(delta << 4 | type(field.type));
        } else {
            out.put(type(field.type));
            out.putVarint(zigzag(field.id));
        }
        lastField[depth] = field.id;
    }

    private static int type(byte type) {
        switch (type) {
            case TType.I32:
                return COMPACT_I32;
            case TType.I64:
                return COMPACT_I64;
            case TType.STRING:
                return COMPACT_BINARY;
            case TType.LIST:
                return COMPACT_LIST;
            case TType.STRUCT:
                return COMPACT_STRUCT;
            default:
                throw new IllegalArgumentException("type " + type);
        }
    }

    @Override
    public void writeFieldStop() {
        out.put(0);
    }

    @Override
    public void writeListBegin(TList list) {
        if (list.size <= SHORT_LIST) {
            out.put(list.size << 4 | type(list.elemType));
        } else {
            out.put(0xf0 | type(list.elemType));
            out.putVarint(list.size);
        }
    }

    @Override
    public void writeI32(int number) {
        out.putVarint(zigzag(number) & 0xffffffffL);
    }

    @Override
    public void writeI64(long number) {
        out.putVarint(number << 1 ^ number >> 63);
    }

    @Override
    public void writeBinary(ByteBuffer bytes) {
        out.putVarint(bytes.remaining());
        out.write(bytes);
    }

    private static int zigzag(int number) {
        return number << 1 ^ number >> 31;
    }
}
