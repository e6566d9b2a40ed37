package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Hadoop 3.3.2 and later: in place of the tracing classes that do nothing, the ones of ours that trace. All or none:
 * when a version has anything in one of them that ours do not have, tracing stays off there, and its callers go on as
 * before.
 */
public final class TracingClasses implements Patch {
    private static final String PACKAGE = "org.apache.hadoop.tracing.";
    private static final String RESOURCES = "META-INF/plumb/hadoop-tracing/";
    private static final Set<String> CLASSES = Collections.unmodifiableSet(new LinkedHashSet<>(Arrays.asList(
            PACKAGE + "Tracer", PACKAGE + "Tracer$Builder", PACKAGE + "TraceScope", PACKAGE + "NullTraceScope",
            PACKAGE + "Span", PACKAGE + "SpanContext", PACKAGE + "TraceConfiguration", PACKAGE + "TraceUtils")));

    @Override
    public Set<String> classes() {
        return CLASSES;
    }

    @Override
    public byte[] change(String className, byte[] original, ClassFiles files) throws WeaveException {
        for (String name : CLASSES) {
            ClassApi api = ClassApi.of(name.equals(className) ? original : files.need(name));
            String missing = api.firstMissingIn(ClassApi.of(ours(name)));
            if (missing != null) {
                throw new WeaveException("this version's " + name + " has " + missing + ", which ours has not");
            }
        }
        return ours(className);
    }

    private static byte[] ours(String name) throws WeaveException {
        String resource = RESOURCES + name.replace('.', '/') + ".class";
        try (InputStream in = TracingClasses.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new WeaveException("the agent's jar lacks " + resource);
            }
            return bytes(in);
        } catch (IOException e) {
            throw new WeaveException(resource + " cannot be read: " + e, e);
        }
    }

    private static byte[] bytes(InputStream in) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int n = in.read(part); n >= 0; n = in.read(part)) {
            all.write(part, 0, n);
        }
        return all.toByteArray();
    }
}
