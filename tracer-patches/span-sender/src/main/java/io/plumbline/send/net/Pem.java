package io.plumbline.send.net;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;

/** Certificates and keys as OpenSSL writes them. */
final class Pem {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private Pem() {
    }

    static Certificate[] certificates(File file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file.toPath())) {
            Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (found.isEmpty()) {
                throw new IOException(file + " holds no certificate");
            }
            return found.toArray(new Certificate[0]);
        }
    }

    static PrivateKey key(File file) throws IOException, GeneralSecurityException {
        String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.US_ASCII);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException(file + " holds no key of the form BEGIN PRIVATE KEY: `openssl pkcs8 -topk8 -nocrypt`"
                    + " makes one");
        }
        byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
        for (String algorithm : new String[] {"EC", "RSA", "Ed25519"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (InvalidKeySpecException e) {
                // one of another kind
            }
        }
        throw new IOException(file + " holds a key of a kind that this JVM does not know");
    }
}
