import java.io.Closeable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.tracing.TraceUtils;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** Through HTrace, as an application that traces itself does it: Hadoop 2.8 to 3.3.1. */
public final class HtraceRoots implements Roots {
    private final Tracer tracer;

    public HtraceRoots(Configuration conf) {
        tracer = new Tracer.Builder("Workload").conf(TraceUtils.wrapHadoopConf("fs.client.htrace.", conf)).build();
    }

    @Override
    public Closeable open(String name) {
        TraceScope scope = tracer.newScope(name);
        return scope::close;
    }
}
