package io.plumbline.weave;

import io.plumbline.trace.WeaveCounts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** What was woven and what was not. Any thread. */
public final class WeaveReport implements WeaveCounts {
    private static final WeaveReport PROCESS = new WeaveReport();

    /** By line and class: a class of several loaders comes several times, and is shown once. */
    private final Map<String, Finding> findings = Collections.synchronizedMap(new LinkedHashMap<>());
    private final AtomicLong classes = new AtomicLong();
    private final AtomicLong elsewhere = new AtomicLong();
    private volatile FunctionList list;
    private volatile Runnable changed = () -> { };

    /** Of this process's agent. */
    public static WeaveReport process() {
        return PROCESS;
    }

    /** All lines of it that were not met are reported as such. */
    public void expect(FunctionList functions) {
        list = functions;
    }

    /** @param listener called in the thread that adds */
    public void onChange(Runnable listener) {
        changed = listener;
    }

    void add(Finding finding) {
        findings.put(finding.place + ' ' + finding.what + ' ' + finding.className, finding);
        changed.run();
    }

    /** A class was woven. */
    public void countClass() {
        classes.incrementAndGet();
    }

    /** A class of the list was left alone, because its loader does not see the agent's classes. */
    public void countElsewhere() {
        elsewhere.incrementAndGet();
    }

    /** What was found, and the lines whose class was not met. @param unmet how the latter are called */
    public List<Finding> findings(Finding.Status unmet) {
        List<Finding> all = new ArrayList<>();
        synchronized (findings) {
            all.addAll(findings.values());
        }
        if (list != null) {
            for (Function function : list.all()) {
                if (all.stream().noneMatch(f -> f.place.equals(function.place))) {
                    all.add(new Finding(function, unmet, "", Collections.emptyList()));
                }
            }
        }
        return all;
    }

    @Override
    public long woven() {
        return count(Finding.Status.WOVEN) + count(Finding.Status.AHEAD);
    }

    @Override
    public long notFound() {
        return count(Finding.Status.NO_METHOD);
    }

    private long count(Finding.Status status) {
        synchronized (findings) {
            return findings.values().stream().filter(f -> f.status == status).count();
        }
    }

    @Override
    public String text() {
        return ReportText.of(findings(Finding.Status.NOT_LOADED), classes.get(), elsewhere.get());
    }
}
