package io.plumbline.send;

import io.plumbline.send.pack.SpanTranslator;
import io.plumbline.send.wire.CompactWriter;
import io.plumbline.send.wire.FrameBuffer;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Span;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TMemoryInputTransport;

/** A batch with packs as one that has all its spans in its list, as receivers of versions 1 and 2 get it. */
public final class Unpack {
    private Unpack() {
    }

    public static Batch unpacked(Batch batch) {
        if (!batch.isSetPacks()) {
            return batch;
        }
        FrameBuffer spans = new FrameBuffer();
        SpanTranslator translator = new SpanTranslator(new CompactWriter(spans));
        translator.reset(batch.getStrings());
        for (ByteBuffer pack : batch.getPacks()) {
            byte[] bytes = new byte[pack.remaining()];
            pack.duplicate().get(bytes);
            translator.translate(bytes, 0, bytes.length);
        }
        Batch plain = batch.deepCopy();
        plain.unsetPacks();
        plain.setStrings(new ArrayList<>(translator.strings()));
        plain.getSpans().addAll(read(spans));
        return plain;
    }

    private static List<Span> read(FrameBuffer spans) {
        List<Span> read = new ArrayList<>();
        try {
            TMemoryInputTransport bytes = new TMemoryInputTransport(spans.bytes, 0, spans.length);
            TCompactProtocol in = new TCompactProtocol(bytes);
            while (bytes.getBytesRemainingInBuffer() > 0) {
                Span span = new Span();
                span.read(in);
                read.add(span);
            }
            return read;
        } catch (TException e) {
            throw new IllegalStateException(e);
        }
    }
}
