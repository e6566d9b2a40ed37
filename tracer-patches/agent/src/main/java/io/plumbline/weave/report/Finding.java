package io.plumbline.weave.report;

import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.list.Function;
import java.util.Collections;
import java.util.List;

/** What became of one line of the list, or one patch, in one class. Immutable. */
public final class Finding {
    /** In what way. The texts are shown to people and programs: they are names. */
    public enum Status {
        WOVEN("woven"),
        /** The class file came from a woven jar. */
        AHEAD("woven ahead of time"),
        /** unless-traced: the code opens a span itself. */
        TRACED("traced by its own code"),
        /** Another line for the same method came first, or it is off. */
        COVERED("covered by another line"),
        OFF("off"),
        NO_METHOD("no such method"),
        NO_CLASS("no such class"),
        /** At run time: the class was not loaded up to now. */
        NOT_LOADED("class not loaded"),
        /** The patch is not made for this version of the class. */
        NOT_APPLICABLE("not for this version"),
        FAILED("failed");

        private final String text;

        Status(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    final String className;
    /** What was to be woven: {@code DFSClient delete(String, boolean)}; the name of a patch. */
    final String what;
    /** Span name; empty for a patch. */
    final String span;
    /** File and line of the list; empty for a patch. */
    final String place;
    final boolean site;
    public final Status status;
    /** Why, or which methods; may be empty. */
    public final String detail;
    /** Values that this version does not have, each with the reason. */
    public final List<String> missing;

    public Finding(Function function, Status status, String detail, List<String> missing) {
        this.className = function.className;
        this.what = function.toString();
        this.span = function.span == null ? "" : function.span;
        this.place = function.place;
        this.site = function.site;
        this.status = status;
        this.detail = detail;
        this.missing = Collections.unmodifiableList(missing);
    }

    public Finding(String className, Patch patch, Status status, String detail) {
        this.className = className;
        this.what = "patch " + patch.getClass().getSimpleName();
        this.span = "";
        this.place = "";
        this.site = false;
        this.status = status;
        this.detail = detail;
        this.missing = Collections.emptyList();
    }

    public Status status() {
        return status;
    }

    public boolean site() {
        return site;
    }

    /** Does a line of the site's own list mean nothing here? */
    public boolean siteUnmatched() {
        return site && (status == Status.NO_METHOD || status == Status.NO_CLASS || status == Status.FAILED);
    }

    /** One line, beginning with file and line of the list. */
    @Override
    public String toString() {
        String where = place.isEmpty() ? "" : place + ": ";
        String why = detail.isEmpty() ? "" : ": " + detail;
        return where + status + ": " + className + ' ' + what.substring(what.indexOf(' ') + 1) + why;
    }
}
