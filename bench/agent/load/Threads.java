import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The same work in several threads, which stay for the next. */
final class Threads {
    private final ExecutorService pool = Executors.newCachedThreadPool();

    interface Work {
        Void run(int thread) throws IOException;
    }

    /** Returns when all have done it. */
    void run(int n, Work work) throws InterruptedException, ExecutionException {
        List<Future<Void>> running = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int number = i;
            running.add(pool.submit(() -> work.run(number)));
        }
        for (Future<Void> one : running) {
            one.get();
        }
    }
}
