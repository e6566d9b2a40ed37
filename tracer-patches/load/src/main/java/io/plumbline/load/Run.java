package io.plumbline.load;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * An open loop: each operation is begun when it is due, whatever became of those before it. One thread hands them on; a
 * pool of threads, as many as are needed at a time up to a bound, carries them out. An operation that finds no thread
 * waits, and its latency counts from when it was due.
 */
final class Run {
    /** How near to the due time the dispatcher sleeps; the rest it spends looking at the clock. */
    private static final long SPIN_NS = 50_000;
    private static final long LONGEST_SLEEP_NS = 100_000_000;
    /** What is taken from the open ones is written at once, but by a thread that the system lets run when it likes. */
    private static final long WRITING_NS = 10_000_000_000L;
    private static final int STACK_BYTES = 256 << 10;

    private final Plan plan;
    private final Folder folder;
    private final Clients clients;
    private final ResultFile result;
    /** Or null. */
    private final HdrLog hdrLog;
    private final Share share;
    private final long warmUpNs;
    private final long maxBytes;
    private int threadsMost;
    private volatile boolean closed;
    private final Progress progress = new Progress();
    private final LinkedTransferQueue<Operation> queue = new LinkedTransferQueue<>();
    /** Those that nobody has written down yet: who removes one writes it. */
    private final ConcurrentHashMap<Integer, Operation> open = new ConcurrentHashMap<>();
    private final AtomicInteger threads = new AtomicInteger();
    private final AtomicReference<StopReason> reason = new AtomicReference<>(StopReason.DONE);
    private final AtomicInteger handedOn = new AtomicInteger();
    private final AtomicInteger written = new AtomicInteger();
    /** Of these: that followed another one of their session. */
    private final AtomicInteger followed = new AtomicInteger();
    private boolean over;
    private volatile boolean dispatched;
    private volatile long startNs;
    /** Of dueUntil(): how far in the plan it has counted, and to what. */
    private int countedTo;
    private int counted;

    /** What a run works with. */
    static final class Parts {
        Plan plan;
        Folder folder;
        Clients clients;
        ResultFile result;
        HdrLog hdrLog;
        Share share;
        Live live;
        int threadsMost;
        /** Read and written; 0: as many as the plan has. */
        long maxBytes;
    }

    Run(Parts parts) {
        plan = parts.plan;
        folder = parts.folder;
        clients = parts.clients;
        result = parts.result;
        hdrLog = parts.hdrLog;
        share = parts.share;
        warmUpNs = plan.warmUp();
        threadsMost = parts.threadsMost;
        maxBytes = parts.maxBytes == 0 ? Long.MAX_VALUE : parts.maxBytes;
    }

    Progress progress() {
        return progress;
    }

    /** Since the begin of the load. */
    long now() {
        return System.nanoTime() - startNs;
    }

    int inFlight() {
        return open.size();
    }

    /** Operations that were due until then: by the plan, as long as that goes on. One thread. */
    int dueUntil(long ns) {
        if (closed || stopped()) {
            return handedOn.get();
        }
        for (; countedTo < plan.operations() && plan.due(countedTo) <= ns; countedTo++) {
            counted += begins(countedTo) ? 1 : 0;
        }
        return counted + followed.get();
    }

    /** Is it begun here, and by the clock? */
    private boolean begins(int i) {
        return share.takes(plan.client(i)) && !plan.follows(i);
    }

    boolean stopped() {
        return reason() != StopReason.DONE;
    }

    Plan plan() {
        return plan;
    }

    /**
     * No more operations are begun. The first reason counts, and when all are begun already, that the plan is done.
     *
     * @return this is it
     */
    boolean stop(StopReason why) {
        final boolean tooLate = dispatched && queue.isEmpty();
        return (!tooLate || why == StopReason.INTERRUPTED || why == StopReason.RESULT)
                && reason.compareAndSet(StopReason.DONE, why);
    }

    /** How long the operation that waits longest for a thread has been due. */
    long queuedNs() {
        Operation first = queue.peek();
        return first == null ? 0 : Math.max(0, now() - first.dueNs);
    }

    StopReason reason() {
        return reason.get();
    }

    /** Waits for the begin. @param atNs by System.nanoTime() */
    void start(long atNs) {
        startNs = atNs;
        awaitDue(0);
    }

    /** Begins each operation when it is due, of a session the first, and waits for the end of the plan's sessions. */
    void dispatch() throws InterruptedException {
        for (int i = 0; i < plan.operations(); i++) {
            if (!begins(i)) {
                continue;
            }
            // Made before it is due: only the handing on comes after.
            Operation operation = plan.operation(i, plan.due(i), folder);
            awaitDue(operation.dueNs);
            if (stopped()) {
                return;
            }
            operation.lateNs = Math.max(0, now() - operation.dueNs);
            open.put(i, operation);
            handedOn.incrementAndGet();
            handOn(operation);
        }
        while (plan.sessions() && !open.isEmpty() && !stopped() && now() < plan.endNs()) {
            Thread.sleep(5);
        }
    }

    /**
     * A closed loop: each worker begins the next operation of the plan when its last one has ended, until the time of
     * the plan is over, or its operations are. What is due is so much as the cluster lets be due.
     */
    void dispatchClosed(int workers) throws InterruptedException {
        closed = true;
        AtomicInteger next = new AtomicInteger();
        AtomicInteger working = new AtomicInteger(workers);
        for (int i = 0; i < workers; i++) {
            Thread worker = new Thread(null, () -> {
                workClosed(next);
                working.decrementAndGet();
            }, "load-" + i, STACK_BYTES);
            worker.setDaemon(true);
            worker.start();
        }
        while (working.get() > 0 && !stopped() && now() < plan.endNs()) {
            Thread.sleep(5);
        }
    }

    private void workClosed(AtomicInteger next) {
        for (int i = next.getAndIncrement(); i < plan.operations(); i = next.getAndIncrement()) {
            if (!share.takes(plan.client(i))) {
                continue;
            }
            long nowNs = now();
            if (stopped() || nowNs >= plan.endNs()) {
                return;
            }
            Operation operation = plan.operation(i, nowNs, folder);
            if (!goesOn(operation)) {
                return;
            }
            carryOut(operation);
        }
    }

    private void awaitDue(long dueNs) {
        for (long left = dueNs - now(); left > 0 && !stopped(); left = dueNs - now()) {
            if (left > SPIN_NS) {
                LockSupport.parkNanos(this, Math.min(left - SPIN_NS, LONGEST_SLEEP_NS));
            }
        }
    }

    private void handOn(Operation operation) {
        if (queue.tryTransfer(operation)) {
            return;
        }
        if (threads.get() < threadsMost) {
            threads.incrementAndGet();
            Thread worker = new Thread(null, () -> work(operation), "load-" + operation.number, STACK_BYTES);
            worker.setDaemon(true);
            startOrQueue(worker, operation);
        } else {
            queue.put(operation);
        }
    }

    /** Where the system gives no more threads, those that are there go on. */
    private void startOrQueue(Thread worker, Operation operation) {
        try {
            worker.start();
        } catch (OutOfMemoryError e) {
            threadsMost = threads.decrementAndGet();
            if (threadsMost == 0) {
                throw e;
            }
            queue.put(operation);
        }
    }

    private void work(Operation first) {
        try {
            for (Operation operation = first;; operation = queue.take()) {
                for (Operation next = operation; next != null;) {
                    next = carryOut(next);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @return the next one of its session, which is due now; null: there is none, or it is not to be begun */
    private Operation carryOut(Operation operation) {
        if (stopped()) {
            giveUp(operation);
        }
        if (!open.containsKey(operation.number)) {
            return null; // written down as unfinished
        }
        operation.beginNs = Math.max(1, now());
        progress.begun(operation.beginNs - operation.dueNs);
        long bytes = 0;
        Throwable thrown = null;
        try {
            bytes = clients.run(operation);
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            thrown = e;
        }
        long endNs = now();
        Operation next = following(operation, endNs);
        if (open.remove(operation.number) == null) {
            return null;
        }
        if (progress.ended(endNs - operation.dueNs, bytes, thrown == null) > maxBytes) {
            stop(StopReason.BYTES);
        }
        if (thrown == null) {
            log(operation, endNs);
        }
        try {
            if (thrown != null && reason() == StopReason.INTERRUPTED) {
                result.unfinished(operation, endNs); // Hadoop closes its clients when the process is told to end
            } else {
                result.ended(operation, endNs, bytes, thrown);
            }
            written.incrementAndGet();
        } catch (IOException e) {
            notWritten(e);
        }
        return next;
    }

    /** It is among the open ones before the one that it follows is not: so a session that goes on is never missing. */
    private Operation following(Operation ended, long endNs) {
        int i = ended.number + 1;
        if (closed || i == plan.operations() || !plan.follows(i) || endNs >= plan.endNs()) {
            return null;
        }
        Operation next = plan.operation(i, endNs, folder);
        if (!goesOn(next)) {
            return null;
        }
        followed.incrementAndGet();
        return next;
    }

    /** Another one is begun, by the thread that had the one before. @return false: no more are */
    private boolean goesOn(Operation next) {
        synchronized (this) {
            if (over || stopped()) {
                return false;
            }
            open.put(next.number, next);
            handedOn.incrementAndGet();
            return true;
        }
    }

    void notWritten(IOException why) {
        if (stop(StopReason.RESULT)) {
            Main.say("the result could not be written: " + why.getMessage());
        }
    }

    /** What waited for a thread is not to be begun any more. */
    private void giveUp(Operation operation) {
        try {
            unfinished(operation);
        } catch (IOException e) {
            notWritten(e);
        }
    }

    private void unfinished(Operation operation) throws IOException {
        if (open.remove(operation.number) != null) {
            long endNs = now();
            log(operation, endNs);
            result.unfinished(operation, endNs);
            written.incrementAndGet();
        }
    }

    private void log(Operation operation, long endNs) {
        if (hdrLog != null && operation.dueNs >= warmUpNs) {
            hdrLog.record(operation.kind, endNs - operation.dueNs);
        }
    }

    /** Waits until all that were begun have ended, no longer than that, and writes down what has not. */
    void finish(long longestNs) throws IOException, InterruptedException {
        dispatched = true;
        long until = System.nanoTime() + longestNs;
        while (!open.isEmpty() && System.nanoTime() < until && reason() != StopReason.RESULT) {
            Thread.sleep(5);
        }
        synchronized (this) {
            over = true;
        }
        Queue<Operation> left = new java.util.PriorityQueue<>((a, b) -> Integer.compare(a.number, b.number));
        left.addAll(open.values());
        for (Operation operation = left.poll(); operation != null; operation = left.poll()) {
            unfinished(operation);
        }
        until = System.nanoTime() + WRITING_NS;
        while (written.get() < handedOn.get() && System.nanoTime() < until && reason() != StopReason.RESULT) {
            Thread.sleep(1);
        }
        result.end(reason(), now(), handedOn.get());
    }
}
