package io.plumbline.send.net;

import java.io.File;

/** How a connection is made safe, and who says it is: files in PEM, a ticket, a token. Immutable. */
public final class Login {
    /** A plain connection, by nobody in particular. */
    public static final Login NONE = new Login(false, null, null, null);

    final boolean tls;
    /** Who signs receivers' certificates; null: whom the JVM trusts. */
    final File trust;
    /** Ours, for receivers that want one; null: none. */
    final File certificate;
    final File key;
    /** Null: no login by Kerberos. */
    final Kerberos kerberos;
    /** Null: no token. With Kerberos: for a process that has no ticket. */
    final File token;

    private Login(boolean tls, String trust, String certificate, String key) {
        this.tls = tls;
        this.trust = file(trust);
        this.certificate = file(certificate);
        this.key = file(key);
        this.kerberos = null;
        this.token = null;
    }

    private Login(Login base, Kerberos kerberos, File token) {
        this.tls = base.tls;
        this.trust = base.trust;
        this.certificate = base.certificate;
        this.key = base.key;
        this.kerberos = kerberos;
        this.token = token;
    }

    /** With TLS; names of files may be null. */
    public static Login secure(String trust, String certificate, String key) {
        return new Login(true, trust, certificate, key);
    }

    public boolean isSecure() {
        return tls;
    }

    /** Null: none. */
    public File token() {
        return token;
    }

    public Login withToken(String file) {
        return new Login(this, kerberos, file(file));
    }

    public Login withKerberos(Kerberos settings) {
        return new Login(this, settings, token);
    }

    private static File file(String name) {
        return name == null ? null : new File(name);
    }
}
