package io.plumbline.load;

/** What the user has to change; the message says how. */
final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
        super(message);
    }
}
