package io.plumbline.agent;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Classes that a test writes down. */
final class Compiled {
    private static final Pattern NAME = Pattern.compile("(?:package ([\\w.]+);)?.*?(?:class|interface) (\\w+)");

    private Compiled() {
    }

    /** Returns the folder, as a class path. */
    static String into(Path folder, String... sources) throws Exception {
        Files.createDirectories(folder);
        List<JavaFileObject> units = new ArrayList<>();
        for (String source : sources) {
            Matcher name = NAME.matcher(source);
            if (!name.find()) {
                throw new IllegalArgumentException(source);
            }
            String file =
                    (name.group(1) == null ? "" : name.group(1).replace('.', '/') + "/") + name.group(2) + ".java";
            units.add(new SimpleJavaFileObject(URI.create("string:///" + file), JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                    return source;
                }
            });
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (!compiler.getTask(null, null, null, List.of("-d", folder.toString(), "-proc:none"), null, units).call()) {
            throw new IllegalStateException("does not compile");
        }
        return folder.toString();
    }
}
