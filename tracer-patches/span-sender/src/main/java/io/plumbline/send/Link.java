package io.plumbline.send;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.net.Address;
import io.plumbline.send.net.Connection;
import io.plumbline.send.net.Login;
import io.plumbline.send.net.Logins;
import io.plumbline.send.net.SaslExchange;
import io.plumbline.send.net.TlsContext;
import io.plumbline.send.wire.WireProtocol;
import io.plumbline.wire.Reply;
import io.plumbline.wire.SpanReceiver;
import io.plumbline.wire.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryInputTransport;

/**
 * The way to the receivers: one connection at a time, to the first of the list that works; after a failure, to the
 * next, round and round. Stays with what works. Used by the sender's thread; {@link #abort} and {@link #peer} by any.
 *
 * <p>A receiver that got a whole batch and did not answer for it may have taken it, and would know it again; another
 * one would count its spans a second time. So that batch stays with it for {@code receiver.wait.ms}, for it may come
 * back.
 */
final class Link {
    private final List<Address> addresses;
    /** Null: there is no login but by certificate. */
    private final Logins logins;
    /** Null: connections are plain. */
    private final TlsContext tls;
    private final WireProtocol protocol;
    private final int connectMs;
    private final int ioMs;
    private final long waitNanos;
    private int current;
    /** The batch that {@link #current} may have without our knowing; none: -1. */
    private long unsettled = -1;
    private long unsettledSince;
    private boolean stayed;
    private volatile boolean aborted;
    private volatile Connection connection;
    private volatile String peer = "";

    Link(SenderOptions options) {
        this.addresses = options.addresses;
        Login login = options.login;
        this.logins = Logins.of(login);
        this.tls = login.isSecure() ? new TlsContext(login) : null;
        this.protocol = options.protocol;
        this.connectMs = options.connectMs;
        this.ioMs = options.ioMs;
        this.waitNanos = TimeUnit.MILLISECONDS.toNanos(options.receiverWaitMs);
    }

    /**
     * Sends the batch and waits for the answer. On IOException nothing is known of what became of it, the connection is
     * gone, and the next call goes to the next receiver, or to the same one again if that may have the batch.
     *
     * @param hurried there is no time to wait for a receiver that may come back
     */
    Reply exchange(EncodedBatch batch, boolean hurried) throws IOException {
        if (unsettled != batch.sequence) {
            unsettled = -1;
        }
        boolean written = false;
        boolean done = false;
        try {
            connect();
            connection.write(batch.bytes(), ioMs);
            written = true;
            Reply reply = decode(connection.readFrame(ioMs), batch.messageId());
            done = true;
            return reply;
        } catch (IOException e) {
            throw new IOException(addresses.get(current) + ": " + describe(e), e);
        } catch (RuntimeException e) {
            // What a channel throws of this kind (unsupported address, closed selector) is a failed link.
            throw new IOException(addresses.get(current) + ": " + describe(e), e);
        } finally {
            if (written && !done && unsettled < 0) {
                unsettled = batch.sequence;
                unsettledSince = System.nanoTime();
            }
            if (!done) {
                leave(hurried);
            }
        }
    }

    /**
     * Leaves the receiver for the next one of the list, unless it may have the batch at hand and is to be waited for.
     */
    void leave(boolean hurried) {
        disconnect();
        stayed = unsettled >= 0 && !hurried && System.nanoTime() - unsettledSince < waitNanos;
        if (!stayed) {
            unsettled = -1;
            current = (current + 1) % addresses.size();
        }
    }

    /** The receiver that was left last is the one that is asked next. */
    boolean stayed() {
        return stayed;
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
        SaslExchange login = logins == null ? null : logins.prepare(addresses.get(current));
        connection = Connection.create();
        if (aborted) {
            throw new IOException("given up");
        }
        connection.connect(addresses.get(current), connectMs);
        if (tls != null) {
            connection.secure(tls, addresses.get(current), connectMs);
        }
        if (login != null) {
            login.run(connection, connectMs);
        }
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
