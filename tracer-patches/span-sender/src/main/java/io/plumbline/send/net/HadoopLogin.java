package io.plumbline.send.net;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.Callable;
import javax.security.auth.login.LoginException;

/**
 * The login of the process itself, as Hadoop keeps it (UserGroupInformation). Woven code tells of it: we neither load
 * that class nor cause a login, for the process may be about to log in as somebody.
 *
 * <p>A ticket that has ended is had anew from the process's keytab, as Hadoop's own connections do it. One that is good
 * is left alone: Hadoop lets go of the old one before it has the new one, and its key server may be away.
 */
public final class HadoopLogin extends Identity {
    private static volatile WeakReference<Object> login;

    private final Object user;

    private HadoopLogin(Object user) {
        this.user = user;
    }

    /**
     * Called by woven code with what UserGroupInformation.getLoginUser() returns. Of several such classes, as web
     * applications have them, the first counts. Never throws; any thread.
     */
    public static void found(Object loginUser) {
        WeakReference<Object> known = login;
        Object before = known == null ? null : known.get();
        if (loginUser == null || before == loginUser) {
            return;
        }
        if (before == null || before.getClass() == loginUser.getClass()) {
            login = new WeakReference<>(loginUser);
        }
    }

    /**
     * Null: the process has not logged in, or not by Kerberos; or its ticket was from a ticket cache, and has ended.
     *
     * @throws IOException it logged in from a keytab, its ticket has ended, and no new one is to be had
     */
    static HadoopLogin get() throws IOException {
        WeakReference<Object> known = login;
        Object user = known == null ? null : known.get();
        if (user == null) {
            return null;
        }
        HadoopLogin found = new HadoopLogin(user);
        try {
            if (!found.hasTicket(SOON_MS)) {
                found.call("checkTGTAndReloginFromKeytab");
            }
            if (found.hasTicket(0)) {
                return found;
            }
            if (Boolean.TRUE.equals(found.call("isFromKeytab"))) { // after a failure Hadoop waits, and says nothing
                throw new LoginException("its ticket has ended, and Hadoop asks for a new one when "
                        + "hadoop.kerberos.min.seconds.before.relogin are over since it did so last");
            }
            return null;
        } catch (Exception e) {
            throw new IOException(found.describe() + ": " + e.getMessage(), e);
        }
    }

    private boolean hasTicket(long forMs) throws Exception {
        return run(() -> hasTicket(current(), forMs));
    }

    private Object call(String method) throws Exception {
        try {
            return user.getClass().getMethod(method).invoke(user);
        } catch (InvocationTargetException e) {
            throw cause(e);
        }
    }

    @Override
    <T> T run(Callable<T> action) throws Exception {
        Outcome<T> outcome = new Outcome<>(action);
        try {
            user.getClass().getMethod("doAs", PrivilegedExceptionAction.class).invoke(user, outcome);
        } catch (InvocationTargetException e) {
            throw cause(e);
        }
        return outcome.get();
    }

    @Override
    String describe() {
        String name;
        try {
            name = String.valueOf(call("getUserName"));
        } catch (Exception e) {
            name = "?";
        }
        return name + " (the process's login in Hadoop)";
    }
}
