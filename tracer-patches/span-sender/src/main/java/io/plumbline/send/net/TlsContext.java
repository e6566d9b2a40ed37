package io.plumbline.send.net;

import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * What connections under TLS share: whom we trust, our certificate, and sessions that can be resumed. Files that have
 * changed are read again for the next connection. Used by one thread.
 */
public final class TlsContext {
    private static final char[] NO_PASSWORD = new char[0];

    private final Login login;
    private SSLContext context;
    private long filesTime;

    public TlsContext(Login login) {
        this.login = login;
    }

    /** For a connection to the receiver, whose certificate must have its name. */
    SSLEngine engine(Address address) throws IOException {
        long time = time(login.trust) ^ time(login.certificate) << 1 ^ time(login.key) << 2;
        try {
            if (context == null || time != filesTime) {
                context = create();
                filesTime = time;
            }
        } catch (GeneralSecurityException e) {
            throw new IOException("certificates for TLS: " + e.getMessage(), e);
        }
        SSLEngine engine = context.createSSLEngine(address.host(), address.port());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return engine;
    }

    private SSLContext create() throws IOException, GeneralSecurityException {
        SSLContext made = SSLContext.getInstance("TLS");
        made.init(login.certificate == null ? null : keys().getKeyManagers(),
                login.trust == null ? null : trusted().getTrustManagers(), null);
        return made;
    }

    private KeyManagerFactory keys() throws IOException, GeneralSecurityException {
        Certificate[] chain = Pem.certificates(login.certificate);
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("own", Pem.key(login.key), NO_PASSWORD, chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory;
    }

    private TrustManagerFactory trusted() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int number = 0;
        for (Certificate certificate : Pem.certificates(login.trust)) {
            store.setCertificateEntry("ca" + number++, certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory;
    }

    private static long time(File file) {
        return file == null ? 0 : file.lastModified();
    }
}
