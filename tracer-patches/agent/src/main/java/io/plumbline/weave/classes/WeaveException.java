package io.plumbline.weave.classes;

/**
 * A class or function cannot be woven; the message says which and why, and names the line of the list if there is one.
 */
public final class WeaveException extends Exception {
    private static final long serialVersionUID = 1;

    public WeaveException(String message) {
        super(message);
    }

    public WeaveException(String message, Throwable cause) {
        super(message, cause);
    }
}
