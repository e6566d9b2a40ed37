package io.plumbline.weave.report;

import java.util.ArrayList;
import java.util.List;

/** A report for people: a section for each outcome, a line for each function. */
final class ReportText {
    private ReportText() {
    }

    static String of(List<Finding> findings) {
        StringBuilder text = new StringBuilder();
        for (Finding.Status status : Finding.Status.values()) {
            List<Finding> some = new ArrayList<>(findings);
            some.removeIf(f -> f.status != status);
            if (!some.isEmpty()) {
                text.append('\n').append(status).append(": ").append(some.size()).append('\n');
                some.forEach(f -> line(text, f));
            }
        }
        return text.toString();
    }

    private static void line(StringBuilder text, Finding finding) {
        text.append("  ").append(finding.span.isEmpty() ? finding.className : finding.span).append("  ")
                .append(finding.what);
        if (!finding.place.isEmpty()) {
            text.append("  (").append(finding.place).append(')');
        }
        if (!finding.detail.isEmpty()) {
            text.append("  ").append(finding.detail);
        }
        text.append('\n');
        for (String missing : finding.missing) {
            text.append("    value not available: ").append(missing).append('\n');
        }
    }
}
