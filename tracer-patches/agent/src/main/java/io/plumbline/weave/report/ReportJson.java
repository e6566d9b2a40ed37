package io.plumbline.weave.report;

import java.util.List;

/** A report for programs: an array with an object for each line of the list and each patch. */
final class ReportJson {
    private ReportJson() {
    }

    static String of(List<Finding> findings) {
        StringBuilder json = new StringBuilder("[");
        String separator = "\n";
        for (Finding finding : findings) {
            json.append(separator).append("  {");
            member(json, "status", finding.status.toString()).append(", ");
            member(json, "class", finding.className).append(", ");
            member(json, "function", finding.what).append(", ");
            member(json, "span", finding.span).append(", ");
            member(json, "place", finding.place).append(", ");
            member(json, "detail", finding.detail).append(", \"site\": ").append(finding.site);
            json.append(", \"missing\": [");
            for (int i = 0; i < finding.missing.size(); i++) {
                json.append(i == 0 ? "" : ", ");
                text(json, finding.missing.get(i));
            }
            json.append("]}");
            separator = ",\n";
        }
        return json.append("\n]\n").toString();
    }

    private static StringBuilder member(StringBuilder json, String name, String value) {
        text(json, name).append(": ");
        return text(json, value);
    }

    private static StringBuilder text(StringBuilder json, String value) {
        json.append('"');
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"');
    }
}
