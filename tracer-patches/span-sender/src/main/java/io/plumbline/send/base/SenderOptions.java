package io.plumbline.send.base;

import io.plumbline.send.SpanSender;
import io.plumbline.send.net.Address;
import io.plumbline.send.net.Kerberos;
import io.plumbline.send.net.Login;
import io.plumbline.send.wire.WireProtocol;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Addresses and limits of a {@link SpanSender}. Immutable. */
public final class SenderOptions {
    static final Key QUEUE_SPANS = new Key("queue.spans", 100_000, 1, 100_000_000);
    static final Key QUEUE_BYTES = new Key("queue.bytes", 32 << 20, 64 << 10, Integer.MAX_VALUE);
    /** Receivers take 200,000; small batches keep the loss of a kill -9 of this process small. */
    static final Key BATCH_SPANS = new Key("batch.spans", 10_000, 1, 10_000);
    /** Twice this and the largest span together stay below the receivers' limit of 32 MiB for a frame. */
    static final Key BATCH_BYTES = new Key("batch.bytes", 2 << 20, 1, 4 << 20);
    static final Key FLUSH_MS = new Key("flush.interval.ms", 500, 1, 3_600_000);
    static final Key CONNECT_MS = new Key("connect.timeout.ms", 3_000, 1, 3_600_000);
    static final Key IO_MS = new Key("io.timeout.ms", 20_000, 1, 3_600_000);
    static final Key RETRY_MIN_MS = new Key("retry.min.ms", 100, 1, 3_600_000);
    static final Key RETRY_MAX_MS = new Key("retry.max.ms", 10_000, 1, 3_600_000);
    static final Key RECEIVER_WAIT_MS = new Key("receiver.wait.ms", 60_000, 0, 3_600_000);
    static final Key DRAIN_MS = new Key("shutdown.timeout.ms", 3_000, 0, 3_600_000);
    /** All keys with whole numbers. */
    public static final List<Key> NUMBERS = Collections.unmodifiableList(Arrays.asList(QUEUE_SPANS, QUEUE_BYTES,
            BATCH_SPANS, BATCH_BYTES, FLUSH_MS, CONNECT_MS, IO_MS, RETRY_MIN_MS, RETRY_MAX_MS, RECEIVER_WAIT_MS,
            DRAIN_MS));
    /** {@code host:port}, separated by commas. */
    public static final String RECEIVERS_KEY = "receivers";
    public static final String RECEIVERS_DEFAULT = "127.0.0.1:" + Address.DEFAULT_PORT;
    /** {@code compact} (the default) or {@code binary}. */
    public static final String PROTOCOL_KEY = "protocol";

    /** {@code on} or {@code off}; then files in PEM. */
    public static final String TLS_KEY = "tls";
    public static final String TRUST_KEY = "tls.trust";
    public static final String CERTIFICATE_KEY = "tls.certificate";
    public static final String KEY_KEY = "tls.key";
    /** {@code none}, {@code kerberos} or {@code token}. */
    public static final String AUTH_KEY = "auth";
    public static final String SERVICE_KEY = "auth.service";
    public static final String SERVICE_DEFAULT = "plumb";
    public static final String PRINCIPAL_KEY = "auth.principal";
    public static final String KEYTAB_KEY = "auth.keytab";
    public static final String TOKEN_KEY = "auth.token.file";

    /** As plumbd's {@code mask.rules}, and the file with the key. */
    public static final String MASK_RULES_KEY = "mask.rules";
    public static final String MASK_KEY_KEY = "mask.key";

    private static final String KERBEROS = "kerberos";
    private static final String TOKEN = "token";
    private static final List<String> AUTHS = Collections.unmodifiableList(Arrays.asList("none", KERBEROS, TOKEN));
    private static final String AUTHS_HELP = "is none, kerberos or token";

    public final List<Address> addresses;
    public final Login login;
    /** Rules, and the file with the key; both null: nothing is masked. */
    public final String maskRules;
    public final String maskKey;
    public final WireProtocol protocol;
    public final int queueSpans;
    public final int queueBytes;
    public final int batchSpans;
    public final int batchBytes;
    public final int flushMs;
    public final int connectMs;
    public final int ioMs;
    public final int retryMinMs;
    public final int retryMaxMs;
    public final int receiverWaitMs;
    public final int drainMs;

    /**
     * @param get the value of a key such as "queue.spans"; null or blank when it is not set
     * @throws IllegalArgumentException naming key, value and what is allowed
     */
    public SenderOptions(Function<String, String> get) {
        this(get, key -> key);
    }

    /** @param shown what messages call a key, where users write it in another way, as with a prefix */
    public SenderOptions(Function<String, String> get, UnaryOperator<String> shown) {
        Source source = new Source(get, shown);
        try {
            addresses = Address.parseList(source.text(RECEIVERS_KEY, RECEIVERS_DEFAULT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(shown.apply(RECEIVERS_KEY) + ": " + e.getMessage(), e);
        }
        protocol = WireProtocol.parse(shown.apply(PROTOCOL_KEY),
                source.text(PROTOCOL_KEY, WireProtocol.COMPACT.text()));
        login = login(source);
        maskRules = source.text(MASK_RULES_KEY, null);
        maskKey = source.text(MASK_KEY_KEY, null);
        source.demand((maskRules == null) == (maskKey == null), MASK_RULES_KEY, "goes with "
                + source.shown(MASK_KEY_KEY) + ": a hash without a key can be guessed");
        queueSpans = source.number(QUEUE_SPANS);
        queueBytes = source.number(QUEUE_BYTES);
        batchSpans = source.number(BATCH_SPANS);
        batchBytes = source.number(BATCH_BYTES);
        flushMs = source.number(FLUSH_MS);
        connectMs = source.number(CONNECT_MS);
        ioMs = source.number(IO_MS);
        retryMinMs = source.number(RETRY_MIN_MS);
        retryMaxMs = source.number(RETRY_MAX_MS);
        receiverWaitMs = source.number(RECEIVER_WAIT_MS);
        drainMs = source.number(DRAIN_MS);
        if (retryMaxMs < retryMinMs) {
            throw new IllegalArgumentException(shown.apply(RETRY_MAX_MS.name) + " = " + retryMaxMs + " is less than "
                    + shown.apply(RETRY_MIN_MS.name) + " = " + retryMinMs);
        }
    }

    private static Login login(Source source) {
        boolean tls = source.is(TLS_KEY, "on", "off");
        String certificate = source.text(CERTIFICATE_KEY, null);
        String key = source.text(KEY_KEY, null);
        String trust = source.text(TRUST_KEY, null);
        source.demand((certificate == null) == (key == null), CERTIFICATE_KEY, "needs " + source.shown(KEY_KEY)
                + ", and that one needs a certificate");
        source.demand(tls || certificate == null && trust == null, TLS_KEY, "must be on where there are files for it");
        return auth(source, tls ? Login.secure(trust, certificate, key) : Login.NONE);
    }

    private static Login auth(Source source, Login login) {
        String auth = source.text(AUTH_KEY, AUTHS.get(0));
        String token = source.text(TOKEN_KEY, null);
        String principal = source.text(PRINCIPAL_KEY, null);
        String keytab = source.text(KEYTAB_KEY, null);
        boolean byTicket = auth.equals(KERBEROS);
        source.demand(AUTHS.contains(auth), AUTH_KEY, AUTHS_HELP);
        source.demand(!auth.equals(TOKEN) || token != null, TOKEN_KEY, "is needed by " + source.shown(AUTH_KEY)
                + " = token");
        source.demand(token == null || !auth.equals(AUTHS.get(0)), TOKEN_KEY, "goes with " + source.shown(AUTH_KEY)
                + " = token or kerberos");
        source.demand(byTicket || principal == null && keytab == null, AUTH_KEY,
                "must be kerberos where there is a principal or a keytab");
        source.demand(keytab == null || principal != null, PRINCIPAL_KEY, "is needed by " + source.shown(KEYTAB_KEY));
        source.demand(token == null || login.isSecure(), TLS_KEY, "must be on: a token is not for others to read");
        Login made = token == null ? login : login.withToken(token);
        return byTicket ? made.withKerberos(new Kerberos(service(source), principal, keytab)) : made;
    }

    private static String service(Source source) {
        String service = source.text(SERVICE_KEY, SERVICE_DEFAULT);
        source.demand(service.indexOf('/') < 0 && service.indexOf('@') < 0, SERVICE_KEY,
                "is the first part of the receiver's principal, as in plumb/HOST");
        return service;
    }

    /** @throws IllegalArgumentException when there is no such way to log in */
    public static String auth(String value) {
        if (!AUTHS.contains(value)) {
            throw new IllegalArgumentException(AUTHS_HELP);
        }
        return value;
    }

    @Override
    public String toString() {
        return addresses.toString();
    }

    private static final class Source {
        private final Function<String, String> get;
        private final UnaryOperator<String> shown;

        Source(Function<String, String> get, UnaryOperator<String> shown) {
            this.get = get;
            this.shown = shown;
        }

        String text(String key, String otherwise) {
            String value = get.apply(key);
            return value == null || value.trim().isEmpty() ? otherwise : value.trim();
        }

        /** Is it the first of two choices? It is the second when it is not set. */
        boolean is(String key, String first, String second) {
            String value = text(key, second);
            demand(value.equals(first) || value.equals(second), key, "is " + first + " or " + second);
            return value.equals(first);
        }

        void demand(boolean good, String key, String what) {
            if (!good) {
                throw new IllegalArgumentException(shown(key) + " " + what);
            }
        }

        String shown(String key) {
            return shown.apply(key);
        }

        int number(Key key) {
            return key.parse(shown.apply(key.name), text(key.name, Integer.toString(key.otherwise)));
        }
    }

    /** A whole number with its bounds. */
    public static final class Key {
        public final String name;
        /** The default. */
        public final int otherwise;
        public final int least;
        public final int greatest;

        Key(String name, int otherwise, int least, int greatest) {
            this.name = name;
            this.otherwise = otherwise;
            this.least = least;
            this.greatest = greatest;
        }

        private int parse(String shown, String value) {
            try {
                int number = Integer.parseInt(value);
                if (number >= least && number <= greatest) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // falls through to the message below
            }
            throw new IllegalArgumentException(
                    shown + " = '" + value + "': a whole number from " + least + " to " + greatest + " is needed");
        }
    }
}
