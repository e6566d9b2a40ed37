import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.PrivilegedExceptionAction;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosTicket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ToolRunner;

/**
 * A process with a login of its own, as a NameNode has it: PRINCIPAL KEYTAB. Each line of the input is a command of
 * FsShell, or "outlive": until the ticket has ended. "done" and the result follow.
 */
public final class LoggedInShell {
    private LoggedInShell() {
    }

    @SuppressWarnings("removal")
    private static int outlive() throws Exception {
        final Subject subject =
                UserGroupInformation.getLoginUser().doAs((PrivilegedExceptionAction<Subject>) () -> Subject
                        .getSubject(java.security.AccessController.getContext()));
        long end = 0;
        for (KerberosTicket ticket : subject.getPrivateCredentials(KerberosTicket.class)) {
            end = Math.max(end, ticket.getEndTime().getTime());
        }
        while (System.currentTimeMillis() <= end) {
            Thread.sleep(Math.max(1, end - System.currentTimeMillis()));
        }
        return 0;
    }

    public static void main(String[] args) throws Exception {
        final Configuration conf = new Configuration();
        UserGroupInformation.setConfiguration(conf);
        UserGroupInformation.loginUserFromKeytab(args[0], args[1]);
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            final int result = line.equals("outlive") ? outlive() : ToolRunner.run(new FsShell(conf), line.split(" "));
            System.out.println("done " + result);
        }
    }
}
