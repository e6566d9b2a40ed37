package io.plumbline.weave.list;

/** A list of functions cannot be read; the message begins with file and line and says what is allowed there. */
public final class ListException extends Exception {
    private static final long serialVersionUID = 1;

    ListException(String file, int line, String message) {
        super(file + ":" + line + ": " + message);
    }

    ListException(String message) {
        super(message);
    }
}
