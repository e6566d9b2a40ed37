package io.plumbline.agent;

/** The command line cannot be understood; the message says what can. */
final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message);
    }
}
