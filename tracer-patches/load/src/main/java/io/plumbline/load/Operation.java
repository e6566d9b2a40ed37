package io.plumbline.load;

import org.apache.hadoop.fs.Path;

/** One operation of the plan, and what became of it. */
final class Operation {
    /** What an operation is about. */
    static final class Target {
        final Path path;
        final long offset;
        final long length;

        Target(Path path, long offset, long length) {
            this.path = path;
            this.offset = offset;
            this.length = length;
        }
    }

    final int number;
    final long dueNs;
    final Kind kind;
    final int client;
    final Target target;

    /** How late the dispatcher handed it on. */
    volatile long lateNs;
    /** Since the begin of the load, as dueNs is. 0: not begun. */
    volatile long beginNs;
    /** The trace that it is the root of; 0: none. */
    volatile long trace;

    Operation(int number, long dueNs, Kind kind, int client, Target target) {
        this.number = number;
        this.dueNs = dueNs;
        this.kind = kind;
        this.client = client;
        this.target = target;
    }
}
