package io.plumbline.send.net;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.security.auth.Subject;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.auth.login.LoginException;

/** A login of the sender's own, from a keytab or the ticket cache; the process's is not touched. One thread. */
final class OwnLogin extends Identity {
    private static final String MODULE = "com.sun.security.auth.module.Krb5LoginModule";
    private static final String HOST = "_HOST";

    private final Kerberos settings;
    private Subject subject;

    OwnLogin(Kerberos settings) {
        this.settings = settings;
    }

    /** Has a ticket for a while from now on. @throws LoginException saying why not */
    OwnLogin renewed() throws LoginException {
        if (!hasTicket(subject, SOON_MS)) {
            subject = null;
            Subject fresh = new Subject();
            new LoginContext("plumbline", fresh, null, configuration()).login();
            if (!hasTicket(fresh, 0)) {
                throw new LoginException("the ticket has ended");
            }
            subject = fresh;
        }
        return this;
    }

    private Configuration configuration() throws LoginException {
        Map<String, String> options = new HashMap<>();
        options.put("doNotPrompt", "true");
        if (settings.keytab != null) {
            options.put("useKeyTab", "true");
            options.put("keyTab", settings.keytab.getPath());
        } else {
            options.put("useTicketCache", "true");
        }
        if (settings.principal != null) {
            options.put("principal", principal());
        }
        AppConfigurationEntry entry = new AppConfigurationEntry(MODULE,
                AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, Collections.unmodifiableMap(options));
        return new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {entry};
            }
        };
    }

    /** As Hadoop has it: _HOST is the name of this host. */
    private String principal() throws LoginException {
        if (!settings.principal.contains(HOST)) {
            return settings.principal;
        }
        try {
            String host = InetAddress.getLocalHost().getCanonicalHostName().toLowerCase(Locale.ROOT);
            return settings.principal.replace(HOST, host);
        } catch (UnknownHostException e) {
            throw new LoginException("this host has no name, which " + settings.principal + " needs");
        }
    }

    @Override
    <T> T run(Callable<T> action) throws Exception {
        Outcome<T> outcome = new Outcome<>(action);
        Subject.doAs(subject, outcome);
        return outcome.get();
    }

    @Override
    String describe() {
        String who = settings.principal == null ? "whoever the ticket cache is of" : settings.principal;
        return settings.keytab == null ? who + " (the ticket cache)" : who + " (" + settings.keytab + ")";
    }
}
