package io.plumbline.send.net;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosTicket;

/** Somebody who has a ticket of Kerberos. */
abstract class Identity {
    /** A ticket that ends sooner is to be had anew, if that can be done. */
    static final long SOON_MS = TimeUnit.SECONDS.toMillis(30);
    private static final String TICKET_GRANTING = "krbtgt/";

    /** For a person: the principal, and where its ticket is from. */
    abstract String describe();

    /** Runs the action with the tickets at hand. What the action throws comes through as it is. */
    abstract <T> T run(Callable<T> action) throws Exception;

    /** Is there a ticket by which further ones can be had, for so long yet? */
    static boolean hasTicket(Subject subject, long forMs) {
        if (subject == null) {
            return false;
        }
        long least = System.currentTimeMillis() + forMs;
        for (KerberosTicket ticket : subject.getPrivateCredentials(KerberosTicket.class)) {
            boolean granting = !ticket.isDestroyed() && ticket.getServer().getName().startsWith(TICKET_GRANTING);
            if (granting && ticket.getEndTime() != null && ticket.getEndTime().getTime() > least) {
                return true;
            }
        }
        return false;
    }

    /**
     * The subject of {@code doAs}; null when there is none. Java 18 has another call for it, and Java 24 only that one.
     */
    static Subject current() throws ReflectiveOperationException {
        Method method;
        try {
            method = Subject.class.getMethod("current");
        } catch (NoSuchMethodException e) {
            Class<?> controller = Class.forName("java.security.AccessController");
            Object context = controller.getMethod("getContext").invoke(null);
            return (Subject) Subject.class.getMethod("getSubject", Class.forName("java.security.AccessControlContext"))
                    .invoke(null, context);
        }
        return (Subject) method.invoke(null);
    }

    /** Past what would log or wrap it: {@code doAs} of Hadoop does. */
    static final class Outcome<T> implements PrivilegedExceptionAction<Object> {
        private final Callable<T> action;
        private T value;
        private Exception failure;

        Outcome(Callable<T> action) {
            this.action = action;
        }

        @Override
        public Object run() {
            try {
                value = action.call();
            } catch (Exception e) {
                failure = e;
            }
            return null;
        }

        T get() throws Exception {
            if (failure != null) {
                throw failure;
            }
            return value;
        }
    }

    /** What a method called by reflection threw. */
    static Exception cause(InvocationTargetException e) {
        return e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
    }
}
