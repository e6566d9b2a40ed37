import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/** How an operation becomes the root of a trace where no agent does it. */
interface Roots {
    Roots NONE = name -> () -> {
    };

    /** A scope that the operation runs in. */
    Closeable open(String name);

    /** By name: Hadoop 3.3.2 and later have no HTrace to compile against. */
    static Roots ofHtrace(Configuration conf) throws IOException {
        try {
            return (Roots) Class.forName("HtraceRoots").getConstructor(Configuration.class).newInstance(conf);
        } catch (ReflectiveOperationException e) {
            throw new IOException("this Hadoop has no HTrace", e);
        }
    }
}
