package io.plumbline.agent;

import io.plumbline.weave.LibraryReport;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.list.ListException;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** {@code report}: what would be woven in some jars. */
final class ReportCommand {
    static final String USAGE = "report --in LIB [--functions FILE] [--json]";

    private ReportCommand() {
    }

    /** @return 1 when a line of the site's own list means nothing in these jars */
    static int run(List<String> arguments, PrintStream out) throws UsageException, IOException, ListException {
        CommandLine line = CommandLine.parse(arguments, new String[] {"--in", "--functions"}, new String[] {"--json"});
        List<Path> roots = new ArrayList<>();
        for (String value : line.all("--in")) {
            for (String path : value.split(File.pathSeparator)) {
                roots.add(Paths.get(path));
            }
        }
        if (roots.isEmpty()) {
            throw new UsageException("--in is missing");
        }
        WeaveReport report = new WeaveReport();
        LibraryReport.fill(FunctionList.load(line.one("--functions")), report, roots);
        out.print(line.has("--json") ? report.json(Finding.Status.NO_CLASS) : report.text(Finding.Status.NO_CLASS));
        return report.findings(Finding.Status.NO_CLASS).stream().anyMatch(Finding::siteUnmatched) ? 1 : 0;
    }
}
