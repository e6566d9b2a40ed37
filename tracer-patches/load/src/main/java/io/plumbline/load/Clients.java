package io.plumbline.load;

import java.io.IOException;
import java.net.URI;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * The clients of a load, each with a FileSystem and, where there is no Kerberos, a connection to the NameNode of its
 * own.
 */
final class Clients {
    private final Configuration conf;
    private final URI uri;
    private final UserGroupInformation[] users;
    private final FileSystem[] systems;

    /** @param anew each operation gets a new FileSystem */
    Clients(Configuration conf, URI uri, int n, Share share, boolean anew) throws IOException {
        this.conf = conf;
        this.uri = uri;
        users = new UserGroupInformation[n];
        systems = anew ? null : new FileSystem[n];
        UserGroupInformation self = UserGroupInformation.getCurrentUser();
        for (int i = 0; i < n; i++) {
            // Connections are shared by those who are the same object, so each client is one.
            users[i] = UserGroupInformation.isSecurityEnabled()
                    ? self
                    : UserGroupInformation.createRemoteUser(self.getShortUserName());
            if (systems != null && share.takes(i)) {
                systems[i] = open(i);
                systems[i].exists(new org.apache.hadoop.fs.Path("/"));
            }
        }
    }

    private FileSystem open(int client) throws IOException {
        try {
            return users[client].doAs((PrivilegedExceptionAction<FileSystem>) () -> FileSystem.newInstance(uri, conf));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    long run(Operation operation) throws IOException {
        return systems != null ? Operations.run(operation, systems[operation.client]) : runAnew(operation);
    }

    /** With a client of its own, which is a part of the operation's trace. */
    long runAnew(Operation operation) throws IOException {
        try (FileSystem fs = open(operation.client)) {
            return Operations.run(operation, fs);
        }
    }
}
