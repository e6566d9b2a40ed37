package io.plumbline.send.net;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.login.LoginException;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;

/**
 * Prepares logins by SASL, as the settings say. By Kerberos, the first of these that there is: the keytab of the
 * settings; the process's login in Hadoop; the ticket cache. Then the token. Used by one thread.
 */
public final class Logins {
    /** Receivers know tokens by themselves. */
    private static final String TOKEN_USER = "token";
    private static final int CAUSES_MAX = 10;

    private final Login login;
    private final OwnLogin own;

    private Logins(Login login) {
        this.login = login;
        this.own = login.kerberos == null ? null : new OwnLogin(login.kerberos);
    }

    /** Null: there is nothing to log in by, but perhaps a certificate. */
    public static Logins of(Login login) {
        return login.kerberos == null && login.token == null ? null : new Logins(login);
    }

    /**
     * What the receiver is to be told. All that other servers are needed for is done here, before there is a connection
     * to the receiver, which waits for a login for some seconds only.
     *
     * @throws IOException saying what is missing
     */
    public SaslExchange prepare(Address address) throws IOException {
        try {
            Identity identity = login.kerberos == null ? null : identity();
            return identity == null ? byToken() : byTicket(identity, address);
        } catch (LinkageError e) {
            throw new IOException("this JVM lacks what a login needs: " + e, e);
        }
    }

    private SaslExchange byToken() throws IOException {
        String token = new String(Files.readAllBytes(login.token.toPath()), StandardCharsets.UTF_8).trim();
        byte[] secret = ("\0" + TOKEN_USER + "\0" + token).getBytes(StandardCharsets.UTF_8);
        return new SaslExchange("PLAIN", secret, "the token of " + login.token);
    }

    private static String server(Kerberos kerberos, Address address) {
        return kerberos.service + "/" + address.host();
    }

    private SaslExchange byTicket(Identity identity, Address address) throws IOException {
        Map<String, String> properties = new HashMap<>();
        properties.put(Sasl.QOP, "auth"); // secrecy is the business of TLS
        String who = identity.describe();
        try {
            return identity.run(() -> {
                SaslClient client = Sasl.createSaslClient(new String[] {SaslExchange.GSSAPI}, null,
                        login.kerberos.service, address.host(), properties, null);
                if (client == null) {
                    throw new SaslException("this JVM has no mechanism GSSAPI");
                }
                return new SaslExchange(client, client.evaluateChallenge(new byte[0]), identity, who);
            });
        } catch (Exception e) {
            throw new IOException("no ticket for " + server(login.kerberos, address) + " as " + who + ": " + why(e), e);
        }
    }

    /** Null: there is nobody with a ticket, but there is a token. */
    private Identity identity() throws IOException {
        if (login.kerberos.keytab == null) {
            HadoopLogin process = HadoopLogin.get();
            if (process != null) {
                return process;
            }
        }
        try {
            return own.renewed();
        } catch (LoginException e) {
            if (login.kerberos.keytab != null) {
                throw new IOException("no login as " + own.describe() + ": " + why(e), e);
            }
            if (login.token != null) {
                return null;
            }
            throw new IOException("nobody to log in as: the process has no login in Hadoop by Kerberos, the ticket "
                    + "cache has none (" + why(e) + "), and neither auth.keytab nor auth.token.file is set", e);
        }
    }

    /** What the innermost says; those around it say that there was something. */
    private static String why(Exception thrown) {
        Throwable last = thrown;
        for (int i = 0; last.getCause() != null && i < CAUSES_MAX; i++) {
            last = last.getCause();
        }
        String said = last.getMessage() == null ? last.getClass().getSimpleName() : last.getMessage();
        String outer = thrown.getCause() == null ? null : thrown.getCause().getMessage();
        return outer == null || outer.contains(said) ? said : outer + ": " + said;
    }
}
