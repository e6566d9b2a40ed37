package io.plumbline.load;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;

/** What can be done about what Hadoop threw, where that is known. */
final class Remedy {
    private static final int CAUSES_MOST = 10;
    /** "could only be written to 0 of the 1 minReplication nodes", "could only be replicated to 0 nodes". */
    private static final String NO_BLOCK = "could only be ";

    private Remedy() {
    }

    /** One line: what was thrown, and what to do. */
    static String text(Throwable thrown) {
        Throwable first = thrown;
        for (int i = 0; i < CAUSES_MOST && first.getCause() != null; i++) {
            if (!of(first).isEmpty()) {
                break;
            }
            first = first.getCause();
        }
        Throwable said = of(first).isEmpty() ? thrown : first;
        String message = String.valueOf(said.getMessage());
        int line = message.indexOf('\n');
        String remedy = of(said);
        return said.getClass().getSimpleName() + ": " + (line < 0 ? message : message.substring(0, line))
                + (remedy.isEmpty() ? "" : " - " + remedy);
    }

    private static String of(Throwable thrown) {
        if (thrown instanceof UnknownHostException) {
            return "no host has this name: look at --folder, and at fs.defaultFS of the configuration";
        }
        if (thrown instanceof ConnectException || thrown instanceof NoRouteToHostException
                || thrown instanceof SocketTimeoutException) {
            return "is the NameNode running, and are host and port those of its RPC, in --folder or in fs.defaultFS?";
        }
        if (String.valueOf(thrown.getMessage()).contains(NO_BLOCK)) {
            return "no DataNode that is reached has room, or none is there: 'hdfs dfsadmin -report' says it; a smaller"
                    + " --files or --max-file of the plan needs less";
        }
        // By name: Hadoop's packages move, and clients of 2.10 to 3.5 are meant.
        switch (thrown.getClass().getSimpleName()) {
            case "AccessControlException":
                return "name a folder that this user may write to with --folder, or be another user";
            case "QuotaExceededException":
            case "NSQuotaExceededException":
            case "DSQuotaExceededException":
            case "QuotaByStorageTypeExceededException":
                return "a smaller --files or --max-file of the plan needs less; or name another --folder";
            case "SafeModeException":
                return "the NameNode takes no writes in safe mode: hdfs dfsadmin -safemode get";
            case "StandbyException":
                return "this NameNode is not the active one: use the name of the pair, as hdfs://ns1";
            case "UnsupportedFileSystemException":
                return "its classes are not in the class path, or the name is wrong: hdfs://HOST:PORT/FOLDER";
            default:
                return "";
        }
    }
}
