package io.plumbline.trace.settings;

import io.plumbline.trace.report.Trouble;
import java.util.Locale;

/** Which operations of a traced task of Spark are spans. */
public enum OperationChoice {
    ALL, SOURCES, OFF;

    /** @throws IllegalArgumentException saying what is taken */
    static OperationChoice of(String value) {
        for (OperationChoice choice : values()) {
            if (choice.name().toLowerCase(Locale.ROOT).equals(value)) {
                return choice;
            }
        }
        throw new IllegalArgumentException("all, sources or off is needed");
    }

    public static OperationChoice inForce() {
        try {
            return of(Settings.current().get("spark.operations"));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
            return OFF;
        }
    }
}
