package io.plumbline.send.net;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * One TCP connection with a deadline on everything: connecting, a whole frame out, a whole frame in. A peer that takes
 * or gives one byte a second does not get round it, which socket timeouts would let it.
 *
 * <p>Used by one thread; {@link #abort} may be called by any, and makes what goes on there fail.
 */
public final class Connection implements Closeable {
    /** A reply is a few numbers and a message for a person. */
    public static final int MAX_REPLY_BYTES = 64 << 10;

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    /** Null: plain. */
    private TlsChannel tls;
    private volatile boolean aborted;

    private Connection(SocketChannel channel, Selector selector) throws IOException {
        this.channel = channel;
        this.selector = selector;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.key = channel.register(selector, 0);
    }

    /** A channel that is not connected yet, so that it can be aborted while it connects. */
    public static Connection create() throws IOException {
        SocketChannel channel = SocketChannel.open();
        Selector selector = null;
        try {
            selector = Selector.open();
            return new Connection(channel, selector);
        } catch (IOException | RuntimeException e) {
            channel.close();
            if (selector != null) {
                selector.close();
            }
            throw e;
        }
    }

    public void connect(Address address, long timeoutMs) throws IOException {
        InetSocketAddress peer = address.resolve();
        if (peer.isUnresolved()) {
            throw new UnknownHostException("host of " + address + " is unknown");
        }
        long deadline = deadline(timeoutMs);
        boolean connected = channel.connect(peer);
        while (!connected) {
            await(SelectionKey.OP_CONNECT, deadline, "connecting to " + address);
            connected = channel.finishConnect();
        }
    }

    /** TLS from now on, with the receiver that the address names. */
    public void secure(TlsContext context, Address address, long timeoutMs) throws IOException {
        long deadline = deadline(timeoutMs);
        tls = new TlsChannel(channel, context.engine(address));
        for (int operation = tls.handshake(); operation != 0; operation = tls.handshake()) {
            await(operation, deadline, "agreeing on TLS with " + address);
        }
    }

    /** Between exchanges: has the peer gone (receivers close what was idle for long), or sent what nobody asked for? */
    public boolean stale() {
        try {
            return readSome(ByteBuffer.allocate(1)) != 0;
        } catch (IOException e) {
            return true;
        }
    }

    public void write(ByteBuffer frame, long timeoutMs) throws IOException {
        long deadline = deadline(timeoutMs);
        while (frame.hasRemaining()) {
            if (writeSome(frame) == 0) {
                await(SelectionKey.OP_WRITE, deadline, "sending");
            }
        }
        while (tls != null && !tls.flush()) {
            await(SelectionKey.OP_WRITE, deadline, "sending");
        }
    }

    private int writeSome(ByteBuffer from) throws IOException {
        return tls == null ? channel.write(from) : tls.write(from);
    }

    private int readSome(ByteBuffer into) throws IOException {
        return tls == null ? channel.read(into) : tls.read(into);
    }

    byte readByte(long timeoutMs) throws IOException {
        return read(1, deadline(timeoutMs)).get();
    }

    /** The payload of the next frame. */
    public ByteBuffer readFrame(long timeoutMs) throws IOException {
        long deadline = deadline(timeoutMs);
        int length = read(4, deadline).getInt();
        if (length < 0 || length > MAX_REPLY_BYTES) {
            throw new IOException("reply of " + Integer.toUnsignedString(length) + " bytes");
        }
        return read(length, deadline);
    }

    private ByteBuffer read(int bytes, long deadline) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        while (buffer.hasRemaining()) {
            int n = readSome(buffer);
            if (n < 0) {
                throw new EOFException("receiver closed the connection");
            }
            if (n == 0) {
                await(SelectionKey.OP_READ, deadline, "waiting for the reply");
            }
        }
        buffer.flip();
        return buffer;
    }

    private void await(int operation, long deadline, String what) throws IOException {
        key.interestOps(operation);
        while (true) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (aborted || Thread.currentThread().isInterrupted()) {
                throw new IOException("given up while " + what);
            }
            if (leftMs <= 0) {
                throw new SocketTimeoutException("timeout while " + what);
            }
            if (selector.select(leftMs) > 0) {
                selector.selectedKeys().clear();
                return;
            }
        }
    }

    private static long deadline(long timeoutMs) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    public void abort() {
        aborted = true;
        selector.wakeup();
    }

    @Override
    public void close() {
        closeQuietly(selector);
        closeQuietly(channel);
    }

    private static void closeQuietly(Closeable closeable) {
        try {
            closeable.close();
        } catch (IOException e) {
            // nothing was promised about this connection any more
        }
    }
}
