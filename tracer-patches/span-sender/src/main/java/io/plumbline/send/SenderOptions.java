package io.plumbline.send;

import java.util.function.Function;

/** Addresses and limits of a {@link SpanSender}. Immutable. */
public final class SenderOptions {
    /**
     * @param get the value of a key such as "queue.spans"; null or blank when it is not set
     * @throws IllegalArgumentException naming key, value and what is allowed
     */
    public SenderOptions(Function<String, String> get) {
    }
}
