package io.plumbline.send.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.security.sasl.SaslClient;

/** One login by SASL in Thrift's framing: a byte of status, the length, the payload. Used once, by one thread. */
public final class SaslExchange {
    static final String GSSAPI = "GSSAPI";
    private static final byte START = 1;
    private static final byte OK = 2;
    private static final byte COMPLETE = 5;
    /** Status and length. */
    private static final int HEAD_BYTES = 5;
    /** Kerberos needs three. */
    private static final int ROUNDS_MAX = 10;

    private final String mechanism;
    private final byte[] first;
    /** Null: one message is all. */
    private final SaslClient client;
    private final Identity identity;
    private final String who;

    /** @param who the login is by, for messages */
    SaslExchange(String mechanism, byte[] only, String who) {
        this.mechanism = mechanism;
        this.first = only;
        this.client = null;
        this.identity = null;
        this.who = who;
    }

    SaslExchange(SaslClient client, byte[] first, Identity identity, String who) {
        this.mechanism = GSSAPI;
        this.first = first;
        this.client = client;
        this.identity = identity;
        this.who = who;
    }

    /** @throws IOException also when the receiver refuses, with what it says */
    public void run(Connection connection, long timeoutMs) throws IOException {
        byte[] name = mechanism.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer begin = ByteBuffer.allocate(2 * HEAD_BYTES + name.length + first.length);
        put(begin, START, name);
        put(begin, complete() ? COMPLETE : OK, first);
        begin.flip();
        connection.write(begin, timeoutMs);
        for (int round = 0; round < ROUNDS_MAX; round++) {
            byte status = connection.readByte(timeoutMs);
            ByteBuffer said = connection.readFrame(timeoutMs);
            if (status != OK && status != COMPLETE) {
                throw new IOException("the receiver refuses " + who + ": " + StandardCharsets.UTF_8.decode(said));
            }
            if (status == COMPLETE) {
                finish();
                return;
            }
            answer(connection, said, timeoutMs);
        }
        throw new IOException("the login as " + who + " does not end");
    }

    private boolean complete() {
        return client == null || client.isComplete();
    }

    /** A receiver that has not shown that it has the service's key is none. */
    private void finish() throws IOException {
        if (!complete()) {
            throw new IOException("the receiver ends the login as " + who + " before its own part of it");
        }
        if (client != null) {
            client.dispose();
        }
    }

    private void answer(Connection connection, ByteBuffer challenge, long timeoutMs) throws IOException {
        if (complete()) {
            throw new IOException("the receiver goes on with the login as " + who + " after its end");
        }
        byte[] token = new byte[challenge.remaining()];
        challenge.get(token);
        byte[] answer;
        try {
            answer = identity.run(() -> client.evaluateChallenge(token));
        } catch (Exception e) {
            throw new IOException("the receiver's part of the login as " + who + ": " + e.getMessage(), e);
        }
        byte[] payload = answer == null ? new byte[0] : answer;
        ByteBuffer message = ByteBuffer.allocate(HEAD_BYTES + payload.length);
        put(message, complete() ? COMPLETE : OK, payload);
        message.flip();
        connection.write(message, timeoutMs);
    }

    private static void put(ByteBuffer into, byte status, byte[] payload) {
        into.put(status).putInt(payload.length).put(payload);
    }
}
