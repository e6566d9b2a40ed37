package io.plumbline.send.net;

import java.io.File;

/** How a connection is made safe, and who says it is: files in PEM, a token. Immutable. */
public final class Login {
    /** A plain connection, by nobody in particular. */
    public static final Login NONE = new Login(false, null, null, null, null);

    final boolean tls;
    /** Who signs receivers' certificates; null: whom the JVM trusts. */
    final File trust;
    /** Ours, for receivers that want one; null: none. */
    final File certificate;
    final File key;
    /** Null: no token. */
    final File token;

    private Login(boolean tls, File trust, File certificate, File key, File token) {
        this.tls = tls;
        this.trust = trust;
        this.certificate = certificate;
        this.key = key;
        this.token = token;
    }

    /** With TLS; names of files may be null. */
    public static Login secure(String trust, String certificate, String key) {
        return new Login(true, file(trust), file(certificate), file(key), null);
    }

    public boolean isSecure() {
        return tls;
    }

    /** Null: none. */
    public File token() {
        return token;
    }

    public Login withToken(String file) {
        return new Login(tls, trust, certificate, key, file(file));
    }

    private static File file(String name) {
        return name == null ? null : new File(name);
    }
}
