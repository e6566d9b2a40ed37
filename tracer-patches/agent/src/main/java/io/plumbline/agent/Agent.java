package io.plumbline.agent;

import io.plumbline.trace.AgentBean;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import io.plumbline.weave.Weaver;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.list.ListException;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;

/** What the JVM calls for {@code -javaagent:plumb-agent.jar=key=value,...}. Never stops the process. */
public final class Agent {
    private static final AtomicBoolean ATTACHED = new AtomicBoolean();

    private Agent() {
    }

    /** Before main. @param argument see {@link Settings#load}; may be null */
    public static void premain(String argument, Instrumentation instrumentation) {
        if (!ATTACHED.compareAndSet(false, true)) {
            System.err.println("plumb-agent: attached twice; the first one's settings hold");
            return;
        }
        try {
            Settings.load(argument);
            for (String problem : Settings.current().problems()) {
                System.err.println("plumb-agent: " + problem);
            }
            if (Settings.current().on("enabled")) {
                install(instrumentation);
            }
        } catch (IllegalArgumentException | ListException e) {
            say(e.getMessage() + " (this process is not traced)");
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
            say(e + " (this process is not traced)");
        }
    }

    private static void install(Instrumentation instrumentation) throws ListException {
        Settings settings = Settings.current();
        FunctionList list = FunctionList.load(settings.get("functions"));
        WeaveReport report = WeaveReport.process();
        report.expect(list);
        AgentBean.counts(report);
        String name = settings.get("report");
        ReportFile file = name == null || name.isEmpty() ? null : ReportFile.start(name, report);
        report.onFinding(finding -> found(finding, file));
        Weaver weaver = new Weaver(list, report);
        instrumentation.addTransformer(new LoadTimeWeaver(weaver, report));
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            weaver.tooLate(loaded.getName());
        }
        if (file != null) {
            file.change();
        }
    }

    private static void found(Finding finding, ReportFile file) {
        if (finding.siteUnmatched()) {
            say(finding.toString());
        }
        if (file != null) {
            file.change();
        }
    }

    private static void say(String message) {
        System.err.println("plumb-agent: " + message);
    }
}
