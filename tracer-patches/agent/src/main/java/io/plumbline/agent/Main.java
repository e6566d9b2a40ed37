package io.plumbline.agent;

import io.plumbline.trace.settings.Settings;
import io.plumbline.weave.list.Hint;
import io.plumbline.weave.list.ListException;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;

/** {@code java -jar plumb-agent.jar}: what can be done beforehand. */
public final class Main {
    private static final int OK = 0;
    private static final int FAILED = 1;
    private static final int MISUSED = 2;

    private static final List<String> COMMANDS =
            Arrays.asList("report", "weave", "--help", "--help-config", "--version");
    private static final String HELP = String.join("\n",
            "Tracing of HDFS for plumbd. Attach it to a process: java -javaagent:plumb-agent.jar=key=value,... ...",
            "",
            "java -jar plumb-agent.jar " + ReportCommand.USAGE,
            "    Says what is traced in the jars of LIB, a folder or jars separated by : , and what is not found there.",
            "    Ends with 1 if a line of FILE, the site's own list of functions, means nothing in them.",
            "java -jar plumb-agent.jar " + WeaveCommand.USAGE,
            "    Writes a copy of LIB, a folder or a jar, that traces without -javaagent. plumb-agent.jar is put beside",
            "    the woven jars, where it must be on the class path; settings come from PLUMB_AGENT_... variables or",
            "    from the file that PLUMB_AGENT_CONF names.",
            "java -jar plumb-agent.jar --help-config",
            "    A configuration file with every key, its bounds and its default.",
            "java -jar plumb-agent.jar --version",
            "");

    private Main() {
    }

    public static void main(String[] arguments) {
        System.exit(run(Arrays.asList(arguments), System.out, System.err));
    }

    /** @return what the process ends with */
    static int run(List<String> arguments, PrintStream out, PrintStream err) {
        try {
            return command(arguments, out);
        } catch (UsageException e) {
            err.println("plumb-agent: " + e.getMessage() + " (--help lists all)");
            return MISUSED;
        } catch (IOException | ListException e) {
            err.println("plumb-agent: " + message(e));
            return FAILED;
        } finally {
            out.flush();
        }
    }

    private static String message(Exception e) {
        return e.getClass() == IOException.class || e instanceof ListException ? e.getMessage() : e.toString();
    }

    private static int command(List<String> arguments, PrintStream out)
            throws UsageException, IOException, ListException {
        String command = arguments.isEmpty() ? "" : arguments.get(0);
        List<String> rest = arguments.isEmpty() ? arguments : arguments.subList(1, arguments.size());
        switch (command) {
            case "report":
                return ReportCommand.run(rest, out);
            case "weave":
                return WeaveCommand.run(rest, out);
            case "--help":
                out.print(HELP);
                return OK;
            case "--help-config":
                out.print(Settings.help());
                return OK;
            case "--version":
                out.println("plumb-agent " + version());
                return OK;
            case "":
                throw new UsageException("a command is missing: report or weave");
            default:
                throw new UsageException("unknown command \"" + command + "\"" + Hint.of(command, COMMANDS));
        }
    }

    /** Of the jar; "unknown" outside of it. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }
}
