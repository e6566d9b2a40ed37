package io.plumbline.agent;

import io.plumbline.trace.AgentBean;
import io.plumbline.trace.Settings;
import io.plumbline.trace.Trouble;
import io.plumbline.weave.FunctionList;
import io.plumbline.weave.ListException;
import io.plumbline.weave.WeaveReport;
import io.plumbline.weave.Weaver;
import java.lang.instrument.Instrumentation;

/** What the JVM calls for {@code -javaagent:plumb-agent.jar=key=value,...}. Never stops the process. */
public final class Agent {
    private Agent() {
    }

    /** Before main. @param argument see {@link Settings#load}; may be null */
    public static void premain(String argument, Instrumentation instrumentation) {
        try {
            Settings.load(argument);
            if (Settings.current().on("enabled")) {
                install(instrumentation);
            }
        } catch (IllegalArgumentException | ListException e) {
            complain(e.getMessage());
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
            complain(e.toString());
        }
    }

    private static void install(Instrumentation instrumentation) throws ListException {
        FunctionList list = FunctionList.load(Settings.current().get("functions"));
        WeaveReport report = WeaveReport.process();
        report.expect(list);
        AgentBean.counts(report);
        Weaver weaver = new Weaver(list, report);
        instrumentation.addTransformer(new LoadTimeWeaver(weaver, report));
    }

    private static void complain(String message) {
        System.err.println("plumb-agent: " + message + " (this process is not traced)");
    }
}
