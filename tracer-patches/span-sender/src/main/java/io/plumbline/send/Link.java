package io.plumbline.send;

import io.plumbline.wire.Reply;
import io.plumbline.wire.SpanReceiver;
import io.plumbline.wire.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryInputTransport;

/**
 * The way to the receivers: one connection at a time, to the first of the list that works; after a failure, to the
 * next, round and round. Stays with what works. Used by the sender's thread; {@link #abort} and {@link #peer} by any.
 */
final class Link {
    private final List<Address> addresses;
    private final WireProtocol protocol;
    private final int connectMs;
    private final int ioMs;
    private int current;
    private volatile boolean aborted;
    private volatile Connection connection;
    private volatile String peer = "";

    Link(SenderOptions options) {
        this.addresses = options.addresses;
        this.protocol = options.protocol;
        this.connectMs = options.connectMs;
        this.ioMs = options.ioMs;
    }

    /**
     * Sends the batch and waits for the answer. On IOException nothing is known of what became of it, the connection is
     * gone, and the next call goes to the next receiver.
     */
    Reply exchange(EncodedBatch batch) throws IOException {
        boolean done = false;
        try {
            connect();
            connection.write(batch.bytes(), ioMs);
            Reply reply = decode(connection.readFrame(ioMs), batch.messageId());
            done = true;
            return reply;
        } catch (IOException e) {
            throw new IOException(addresses.get(current) + ": " + describe(e), e);
        } catch (RuntimeException e) {
            // What a channel throws of this kind (unsupported address, closed selector) is a failed link.
            throw new IOException(addresses.get(current) + ": " + describe(e), e);
        } finally {
            if (!done) {
                next();
            }
        }
    }

    /** Leaves the receiver; the next exchange goes to the next one of the list. */
    void next() {
        disconnect();
        current = (current + 1) % addresses.size();
    }

    private static String describe(Exception e) {
        return e.getMessage() != null ? e.getMessage() : e.getClass().getSimpleName();
    }

    private void connect() throws IOException {
        if (connection != null && connection.stale()) {
            disconnect();
        }
        if (connection != null) {
            return;
        }
        connection = Connection.create();
        if (aborted) {
            throw new IOException("given up");
        }
        connection.connect(addresses.get(current), connectMs);
        peer = addresses.get(current).toString();
    }

    private Reply decode(ByteBuffer payload, int messageId) throws IOException {
        try {
            TProtocol in = protocol.over(new TMemoryInputTransport(payload.array(), 0, payload.limit()));
            TMessage message = in.readMessageBegin();
            if (message.type == TMessageType.EXCEPTION) {
                return refusedIfMalformed(TApplicationException.readFrom(in));
            }
            SpanReceiver.submit_result result = new SpanReceiver.submit_result();
            result.read(in);
            boolean ours = message.type == TMessageType.REPLY && message.seqid == messageId
                    && message.name.equals(BatchEncoder.METHOD);
            if (!ours || !result.isSetSuccess() || result.getSuccess().getStatus() == null) {
                throw new IOException("reply does not fit the call");
            }
            return result.getSuccess();
        } catch (TException | RuntimeException e) {
            throw new IOException("reply cannot be read: " + describe(e), e);
        }
    }

    /** A receiver that cannot parse the batch never will; whatever else it means by an exception may pass. */
    private static Reply refusedIfMalformed(TApplicationException exception) throws TApplicationException {
        if (exception.getType() != TApplicationException.PROTOCOL_ERROR) {
            throw exception;
        }
        return new Reply(Status.REFUSED, 0, 0, 0, 0).setMessage(exception.getMessage());
    }

    int receivers() {
        return addresses.size();
    }

    /** The receiver connected to; empty when there is none. */
    String peer() {
        return peer;
    }

    void disconnect() {
        Connection old = connection;
        connection = null;
        peer = "";
        if (old != null) {
            old.close();
        }
    }

    /** Makes a running exchange and all later ones fail soon. */
    void abort() {
        aborted = true;
        Connection running = connection;
        if (running != null) {
            running.abort();
        }
    }
}
