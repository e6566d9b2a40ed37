package io.plumbline.weave.htrace;

import io.plumbline.send.SpanSender;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.htrace.HTraceEngine;
import io.plumbline.trace.settings.Settings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.Tracer;
import org.apache.htrace.core.TracerPool;

/** A tracer as Hadoop builds it, and what came out of it. Used within {@link PatchedLoader}. */
final class Traced {
    final HTraceEngine engine = new HTraceEngine();
    final List<Span> spans = Collections.synchronizedList(new ArrayList<>());
    final Tracer tracer;

    Traced(String name, String... conf) {
        tracer = new Tracer.Builder(name).conf(conf(conf)).build();
        tracer.getTracerPool().addReceiver(new SpanReceiver() {
            @Override
            public void receiveSpan(Span span) {
                spans.add(span);
            }

            @Override
            public void close() {
            }
        });
    }

    /** Spans go nowhere, and nobody waits for them. */
    static HTraceConfiguration conf(String... pairs) {
        List<String> all = new ArrayList<>(Arrays.asList(pairs));
        Collections.addAll(all, "plumb.shutdown.timeout.ms", "0");
        if (!all.contains("plumb.receiver.addresses")) {
            Collections.addAll(all, "plumb.receiver.addresses", "127.0.0.1:1");
        }
        return HTraceConfiguration.fromKeyValuePairs(all.toArray(new String[0]));
    }

    /** Ends the threads that a case may have started. Called at the end of each through reflection. */
    static void end() {
        for (SpanReceiver receiver : TracerPool.getGlobalTracerPool().getReceivers()) {
            TracerPool.getGlobalTracerPool().removeAndCloseReceiver(receiver);
        }
        SpanSender.process(() -> new SenderOptions(Settings.current()::get)).close();
    }

    /** The file system's tracer, whose sampler takes everything. */
    static Traced always() {
        return new Traced("FSClient", "sampler.classes", "AlwaysSampler");
    }

    static Point point(String name) {
        return PointBootstrap.point(name, "client", 0, "in,more", "out");
    }

    static Point unlessLeaf(String name) {
        return PointBootstrap.point(name, "client", Point.UNLESS_LEAF, "in", "out");
    }

    static Point root(String name) {
        return PointBootstrap.point(name, "client", Point.ROOT, "", "");
    }

    Span span(String description) {
        List<Span> found = new ArrayList<>();
        for (Span span : spans) {
            if (span.getDescription().equals(description)) {
                found.add(span);
            }
        }
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " of " + description + " in " + spans);
        }
        return found.get(0);
    }

    List<String> names() {
        List<String> names = new ArrayList<>();
        for (Span span : spans) {
            names.add(span.getDescription());
        }
        return names;
    }

    String parent(String description) {
        Span span = span(description);
        for (Span other : spans) {
            if (span.getParents().length == 1 && other.getSpanId().equals(span.getParents()[0])) {
                return other.getDescription();
            }
        }
        return span.getParents().length == 0 ? "" : "?";
    }
}
