package io.plumbline.send.net;

import java.io.File;

/** How a sender logs in by Kerberos. Immutable. */
public final class Kerberos {
    /** Of the receiver's principal: {@code plumb} of {@code plumb/recv.example.org}. */
    final String service;
    /** Null: whoever the ticket cache is of. */
    final String principal;
    /** Null: the process's own login. */
    final File keytab;

    /** @param principal may be null, as {@code keytab} may, which needs one */
    public Kerberos(String service, String principal, String keytab) {
        this.service = service;
        this.principal = principal;
        this.keytab = keytab == null ? null : new File(keytab);
    }
}
