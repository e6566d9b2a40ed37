import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.PrivilegedExceptionAction;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.security.auth.Subject;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.sasl.Sasl;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TSaslClientTransport;
import org.apache.thrift.transport.TSocket;

/**
 * Sends spans by libthrift's SASL with a keytab: PORT KEYTAB PRINCIPAL SERVICE QOP CA|- SPANS [WANTS-TO-BE]. Prints the
 * statuses of the answers, or why the login was refused.
 */
public final class KerberosSender {
    private KerberosSender() {
    }

    private static Configuration keytab(String file, String principal) {
        final Map<String, String> options = new HashMap<>();
        options.put("useKeyTab", "true");
        options.put("keyTab", file);
        options.put("principal", principal);
        options.put("storeKey", "true");
        options.put("doNotPrompt", "true");
        return new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {
                    new AppConfigurationEntry("com.sun.security.auth.module.Krb5LoginModule",
                            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, options)
                };
            }
        };
    }

    private static TSocket connect(int port, String ca) throws Exception {
        if (ca.equals("-")) {
            final TSocket plain = new TSocket("127.0.0.1", port);
            plain.open();
            return plain;
        }
        final KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (FileInputStream in = new FileInputStream(ca)) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        final TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return new TSocket(context.getSocketFactory().createSocket("localhost", port));
    }

    private static void writeSpan(TBinaryProtocol to, int n) throws Exception {
        to.writeFieldBegin(new TField("spanId", TType.STRING, (short) 1));
        to.writeString(String.format("%032x", n + 1));
        to.writeFieldBegin(new TField("begin", TType.I64, (short) 3));
        to.writeI64(1_700_000_000_000_000_000L);
        to.writeFieldBegin(new TField("duration", TType.I64, (short) 4));
        to.writeI64(1000);
        to.writeFieldBegin(new TField("name", TType.STRING, (short) 5));
        to.writeString("op");
        to.writeFieldBegin(new TField("tracer", TType.STRING, (short) 6));
        to.writeString("Client/10.0.0.1/7");
        to.writeFieldStop();
    }

    private static int status(TBinaryProtocol from) throws Exception {
        int status = -1;
        from.readMessageBegin();
        from.readStructBegin();
        for (TField field = from.readFieldBegin(); field.type != TType.STOP; field = from.readFieldBegin()) {
            for (TField inner = from.readFieldBegin(); inner.type != TType.STOP; inner = from.readFieldBegin()) {
                if (inner.id == 1) {
                    status = from.readI32();
                } else {
                    TProtocolUtil.skip(from, inner.type);
                }
            }
        }
        from.readMessageEnd();
        return status;
    }

    private static Void send(String[] args) throws Exception {
        final Map<String, String> properties = new HashMap<>();
        properties.put(Sasl.QOP, args[4]);
        final String somebody = args.length > 7 ? args[7] : null;
        try (TSocket socket = connect(Integer.parseInt(args[0]), args[5]);
                TSaslClientTransport sasl =
                        new TSaslClientTransport("GSSAPI", somebody, args[3], "localhost", properties, null, socket)) {
            sasl.open();
            final TBinaryProtocol protocol = new TBinaryProtocol(sasl);
            for (int n = 0; n < Integer.parseInt(args[6]); n++) {
                protocol.writeMessageBegin(new TMessage("submitPlain", TMessageType.CALL, n + 1));
                protocol.writeFieldBegin(new TField("spans", TType.LIST, (short) 1));
                protocol.writeListBegin(new TList(TType.STRUCT, 1));
                writeSpan(protocol, n);
                protocol.writeFieldStop();
                sasl.flush();
                System.out.println("status " + status(protocol));
            }
        } catch (org.apache.thrift.transport.TTransportException e) {
            System.out.println("refused " + e.getMessage());
        }
        return null;
    }

    public static void main(String[] args) throws Exception {
        final LoginContext login = new LoginContext("x", null, null, keytab(args[1], args[2]));
        login.login();
        Subject.doAs(login.getSubject(), (PrivilegedExceptionAction<Void>) () -> send(args));
    }
}
