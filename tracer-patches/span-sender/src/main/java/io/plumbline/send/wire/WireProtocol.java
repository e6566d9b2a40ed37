package io.plumbline.send.wire;

import java.util.Locale;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TTransport;

/** Thrift's two protocols that receivers understand, on the same port. */
public enum WireProtocol {
    COMPACT,
    BINARY;

    public static WireProtocol parse(String key, String value) {
        for (WireProtocol protocol : values()) {
            if (protocol.text().equals(value.toLowerCase(Locale.ROOT))) {
                return protocol;
            }
        }
        throw new IllegalArgumentException(key + " = '" + value + "': compact or binary is needed");
    }

    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    public TProtocol over(TTransport transport) {
        return this == COMPACT ? new TCompactProtocol(transport) : new TBinaryProtocol(transport);
    }

    /** What spans are written with; the same bytes as with {@link #over}. */
    public FieldWriter writer(FrameBuffer buffer) {
        return this == COMPACT ? new CompactWriter(buffer) : new BinaryWriter(buffer);
    }
}
