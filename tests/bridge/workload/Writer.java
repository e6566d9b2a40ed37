import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Writes its input to a file of HDFS as Spark writes event logs: line by line, each flushed to the DataNodes (hflush),
 * under a name of its own until the end. Says the number of lines after each.
 */
public final class Writer {
    private Writer() {
    }

    public static void main(String[] arguments) throws Exception {
        Path path = new Path(arguments[0]);
        Path running = new Path(arguments[0] + ".inprogress");
        Configuration configuration = new Configuration();
        // A NameNode that was started again closes connections that were there: the call is made once more.
        configuration.setBoolean("dfs.client.retry.policy.enabled", true);
        FileSystem fs = path.getFileSystem(configuration);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (FSDataOutputStream out = fs.create(running)) {
            String line;
            for (int lines = 1; (line = input.readLine()) != null; lines++) {
                out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
                out.hflush();
                System.out.println(lines);
            }
        }
        if (!fs.rename(running, path)) {
            throw new IllegalStateException("cannot rename " + running);
        }
    }
}
