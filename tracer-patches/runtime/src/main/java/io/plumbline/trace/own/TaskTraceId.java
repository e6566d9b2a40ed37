package io.plumbline.trace.own;

import java.nio.charset.StandardCharsets;

/** One attempt of a task of Spark is one trace, and whoever reads its event log can compute the trace's id. */
public final class TaskTraceId {
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private TaskTraceId() {
    }

    /** FNV-1a of the UTF-8 of {@code <app>/<task attempt id>}, then splitmix64's finaliser; 1 in the place of 0. */
    public static long of(String app, long taskAttemptId) {
        long hash = FNV_OFFSET;
        for (byte b : (app + '/' + taskAttemptId).getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        hash = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
        hash = (hash ^ (hash >>> 27)) * 0x94d049bb133111ebL;
        hash ^= hash >>> 31;
        return hash == 0 ? 1 : hash;
    }
}
