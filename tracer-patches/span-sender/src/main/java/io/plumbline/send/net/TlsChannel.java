package io.plumbline.send.net;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;

/** A channel under TLS, which does not block: what it lacks at the socket is for its user to wait for. */
final class TlsChannel {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    /** From the socket; its content is before its position, as that of {@link #plain} is. */
    private final ByteBuffer received;
    private ByteBuffer plain;
    /** For the socket; its content is after its position. */
    private final ByteBuffer toSend;

    TlsChannel(SocketChannel channel, SSLEngine engine) throws IOException {
        this.channel = channel;
        this.engine = engine;
        int packet = engine.getSession().getPacketBufferSize();
        received = ByteBuffer.allocate(packet);
        toSend = ByteBuffer.allocate(packet);
        toSend.flip();
        plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
        engine.beginHandshake();
    }

    /** @return what the socket must be ready for to go on ({@link SelectionKey}); 0: done */
    int handshake() throws IOException {
        while (true) {
            if (!flush()) {
                return SelectionKey.OP_WRITE;
            }
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK:
                    runTasks();
                    break;
                case NEED_WRAP:
                    wrap(NOTHING);
                    break;
                case NEED_UNWRAP:
                    if (!unwrap() && !receive()) {
                        return SelectionKey.OP_READ;
                    }
                    break;
                default:
                    return 0;
            }
        }
    }

    /** As {@link SocketChannel#read}. */
    int read(ByteBuffer into) throws IOException {
        while (plain.position() == 0) {
            try {
                if (!unwrap() && !receive()) {
                    return 0;
                }
            } catch (EOFException e) {
                return -1;
            }
            answer();
        }
        plain.flip();
        int bytes = Math.min(plain.remaining(), into.remaining());
        for (int i = 0; i < bytes; i++) {
            into.put(plain.get());
        }
        plain.compact();
        return bytes;
    }

    /** As {@link SocketChannel#write}; {@link #flush} says when all of it has left. */
    int write(ByteBuffer from) throws IOException {
        if (!flush()) {
            return 0;
        }
        int before = from.remaining();
        wrap(from);
        flush();
        return before - from.remaining();
    }

    /** @return has everything left? */
    boolean flush() throws IOException {
        while (toSend.hasRemaining()) {
            if (channel.write(toSend) == 0) {
                return false;
            }
        }
        return true;
    }

    /** What the peer wants to hear between two messages, as with new keys. */
    private void answer() throws IOException {
        runTasks();
        while (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP && flush()) {
            wrap(NOTHING);
        }
        flush();
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    private void wrap(ByteBuffer from) throws IOException {
        toSend.clear();
        SSLEngineResult result = engine.wrap(from, toSend);
        toSend.flip();
        if (result.getStatus() != SSLEngineResult.Status.OK) {
            throw new EOFException("TLS was ended: " + result.getStatus());
        }
    }

    /** @return false: more bytes are needed */
    private boolean unwrap() throws IOException {
        received.flip();
        SSLEngineResult result;
        try {
            result = engine.unwrap(received, plain);
        } finally {
            received.compact();
        }
        switch (result.getStatus()) {
            case OK:
                return true;
            case BUFFER_OVERFLOW:
                grow();
                return true;
            case CLOSED:
                throw new EOFException("receiver closed the connection");
            default:
                return false;
        }
    }

    private void grow() {
        ByteBuffer larger = ByteBuffer.allocate(2 * plain.capacity());
        plain.flip();
        plain = larger.put(plain);
    }

    /** @return false: there is nothing now */
    private boolean receive() throws IOException {
        int bytes = channel.read(received);
        if (bytes < 0) {
            throw new EOFException("receiver closed the connection");
        }
        return bytes > 0;
    }
}
