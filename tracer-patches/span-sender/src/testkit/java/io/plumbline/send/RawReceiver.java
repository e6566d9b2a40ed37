package io.plumbline.send;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A peer that takes whole frames and then does what a test tells it to do with the connection. */
public final class RawReceiver implements AutoCloseable {
    public interface Answer {
        void give(byte[] frame, Socket socket, DataOutputStream out) throws Exception;
    }

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final BlockingQueue<byte[]> frames = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::serve, "raw-receiver");

    public RawReceiver() throws IOException {
        thread.start();
    }

    public String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    public RawReceiver answer(Answer answer) {
        answers.add(answer);
        return this;
    }

    public byte[] next() throws InterruptedException {
        byte[] frame = frames.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS);
        if (frame == null) {
            throw new AssertionError("no frame came");
        }
        return frame;
    }

    private void serve() {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                serve(socket);
            } catch (Exception e) {
                // the peer has gone, or the test is over
            }
        }
    }

    /** One connection at a time; ends with it, or when there is nothing left to answer. */
    private void serve(Socket socket) throws Exception {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        while (true) {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            frames.add(frame);
            Answer answer = answers.poll();
            if (answer == null) {
                return;
            }
            answer.give(frame, socket, out);
            out.flush();
        }
    }

    @Override
    public void close() throws Exception {
        server.close();
        thread.interrupt();
        thread.join();
    }
}
