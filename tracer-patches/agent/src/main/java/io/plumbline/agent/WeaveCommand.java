package io.plumbline.agent;

import io.plumbline.weave.LibraryWeaver;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.list.ListException;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/** {@code weave}: woven copies of jars. */
final class WeaveCommand {
    static final String USAGE = "weave --in LIB --out LIB [--functions FILE] [--json]";

    private WeaveCommand() {
    }

    /** @return 1 when a function could not be woven, or a line of the site's own list means nothing in these jars */
    static int run(List<String> arguments, PrintStream out) throws UsageException, IOException, ListException {
        CommandLine line = CommandLine.parse(arguments, new String[] {"--in", "--out", "--functions"},
                new String[] {"--json"});
        Path in = Paths.get(line.required("--in"));
        Path target = Paths.get(line.required("--out"));
        if (!Files.exists(in)) {
            throw new IOException("--in " + in + " is not there");
        }
        FunctionList list = FunctionList.load(line.one("--functions"));
        WeaveReport report = new WeaveReport();
        report.expect(list);
        LibraryWeaver.Result result = new LibraryWeaver(list, report, agentJar(), Main.version()).weave(in, target);
        if (line.has("--json")) {
            out.print(report.json(Finding.Status.NO_CLASS));
        } else {
            say(result, report, target, out);
        }
        return report.findings(Finding.Status.NO_CLASS).stream()
                .anyMatch(f -> f.siteUnmatched() || f.status() == Finding.Status.FAILED) ? 1 : 0;
    }

    private static void say(LibraryWeaver.Result result, WeaveReport report, Path target, PrintStream out) {
        out.println(result.wovenJars + " of " + result.jars + " jars woven, " + result.wovenClasses + " classes, "
                + report.woven() + " functions: " + target);
        if (result.alreadyWoven > 0) {
            out.println(result.alreadyWoven + " were woven before, and stay as they are");
        }
        if (result.wovenJars > 0) {
            out.println("plumb-agent.jar is beside them: it must be on the class path too");
        }
        report.findings(Finding.Status.NO_CLASS).stream()
                .filter(f -> f.siteUnmatched() || f.status() == Finding.Status.FAILED).forEach(out::println);
    }

    /** Where this code is. @throws IOException when that is no jar */
    private static Path agentJar() throws IOException {
        try {
            Path here = Paths.get(WeaveCommand.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isRegularFile(here)) {
                return here;
            }
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
        throw new IOException("this command works from plumb-agent.jar only");
    }
}
