package io.plumbline.weave;

import io.plumbline.weave.classes.Library;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What the weaver would do with the jars of a library, without writing anything. */
public final class LibraryReport {
    private LibraryReport() {
    }

    /**
     * @param report gets the findings
     * @return the number of jars looked at
     */
    public static int fill(FunctionList list, WeaveReport report, List<Path> roots) throws IOException {
        report.expect(list);
        Weaver weaver = new Weaver(list, report);
        try (Library library = Library.open(roots)) {
            for (String name : weaver.classes()) {
                for (Path jar : library.jarsOf(name)) {
                    byte[] original = library.read(jar, name.replace('.', '/') + ".class");
                    if (weaver.weave(name, original, library) != null) {
                        report.countClass();
                    }
                }
            }
            return library.jars().size();
        }
    }
}
