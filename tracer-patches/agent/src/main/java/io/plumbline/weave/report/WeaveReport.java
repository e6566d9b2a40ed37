package io.plumbline.weave.report;

import io.plumbline.trace.report.WeaveCounts;
import io.plumbline.weave.list.Function;
import io.plumbline.weave.list.FunctionList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** What was woven and what was not. Any thread. */
public final class WeaveReport implements WeaveCounts {
    private static final WeaveReport PROCESS = new WeaveReport();

    /** By line and class: a class of several loaders comes several times, and is shown once. */
    private final Map<String, Finding> findings = Collections.synchronizedMap(new LinkedHashMap<>());
    private final AtomicLong classes = new AtomicLong();
    private final AtomicLong elsewhere = new AtomicLong();
    private final AtomicLong spent = new AtomicLong();
    private volatile FunctionList list;
    private volatile Consumer<Finding> listener;

    /** Of this process's agent. */
    public static WeaveReport process() {
        return PROCESS;
    }

    /** All lines of it that were not met are reported as such. */
    public void expect(FunctionList functions) {
        list = functions;
    }

    /** @param given called with each finding, in the thread that adds it */
    public void onFinding(Consumer<Finding> given) {
        listener = given;
    }

    public void add(Finding finding) {
        findings.put(finding.place + ' ' + finding.what + ' ' + finding.className, finding);
        Consumer<Finding> given = listener;
        if (given != null) {
            given.accept(finding);
        }
    }

    /** Time that the application waited for weaving. */
    public void countTime(long nanos) {
        spent.addAndGet(nanos);
    }

    /** A class was woven. */
    public void countClass() {
        classes.incrementAndGet();
    }

    /** A class of the list was left alone, because its loader does not see the agent's classes. */
    public void countElsewhere() {
        elsewhere.incrementAndGet();
    }

    /** Patches, then the lines of the list in their order. @param unmet how lines are called whose class was not met */
    public List<Finding> findings(Finding.Status unmet) {
        Map<String, List<Finding>> byPlace = new HashMap<>();
        synchronized (findings) {
            for (Finding finding : findings.values()) {
                byPlace.computeIfAbsent(finding.place, p -> new ArrayList<>()).add(finding);
            }
        }
        List<Finding> all = new ArrayList<>(byPlace.getOrDefault("", Collections.emptyList()));
        FunctionList functions = list;
        if (functions == null) {
            byPlace.forEach((place, some) -> all.addAll(place.isEmpty() ? Collections.emptyList() : some));
            return all;
        }
        for (Function function : functions.all()) {
            List<Finding> met = byPlace.get(function.place);
            all.addAll(met != null ? met
                    : Collections.singletonList(new Finding(function, unmet, "", Collections.emptyList())));
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
        return text(Finding.Status.NOT_LOADED);
    }

    /** For programs. @param unmet as in {@link #findings} */
    public String json(Finding.Status unmet) {
        return ReportJson.of(findings(unmet));
    }

    /** For people. */
    public String text(Finding.Status unmet) {
        StringBuilder head = new StringBuilder("classes woven: ").append(classes).append('\n');
        if (spent.get() > 0) {
            head.append("time taken by it: ").append(TimeUnit.NANOSECONDS.toMillis(spent.get())).append(" ms\n");
        }
        if (elsewhere.get() > 0) {
            head.append("classes left alone, because their loader does not see the agent: ").append(elsewhere)
                    .append('\n');
        }
        return head + ReportText.of(findings(unmet));
    }
}
