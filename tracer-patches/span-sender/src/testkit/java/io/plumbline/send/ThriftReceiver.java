package io.plumbline.send;

import io.plumbline.send.wire.WireProtocol;
import io.plumbline.wire.Batch;
import io.plumbline.wire.PlainSpan;
import io.plumbline.wire.RecordBatch;
import io.plumbline.wire.Reply;
import io.plumbline.wire.Span;
import io.plumbline.wire.SpanReceiver;
import io.plumbline.wire.Status;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/** A receiver of Thrift's own making: the generated service on a real server. Answers as told, else OK. */
public final class ThriftReceiver implements SpanReceiver.Iface, AutoCloseable {
    public static final long WAIT_SECONDS = 30;

    private final BlockingQueue<Batch> batches = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<Function<Batch, Reply>> answers = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<TSocket> connections = new ConcurrentLinkedQueue<>();
    private final TServerSocket socket;
    private final TServer server;
    private final Thread thread;

    public ThriftReceiver() throws Exception {
        this(WireProtocol.COMPACT, 0);
    }

    ThriftReceiver(WireProtocol protocol, int port) throws TTransportException {
        socket = new TServerSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)) {
            @Override
            public TSocket accept() throws TTransportException {
                TSocket connection = super.accept();
                connections.add(connection);
                return connection;
            }
        };
        server = new TThreadPoolServer(new TThreadPoolServer.Args(socket)
                .processor(new SpanReceiver.Processor<>(this))
                .transportFactory(new TFramedTransport.Factory())
                .protocolFactory(protocol == WireProtocol.COMPACT
                        ? new TCompactProtocol.Factory() : new TBinaryProtocol.Factory())
                .minWorkerThreads(1)
                .stopTimeoutVal(1)
                .stopTimeoutUnit(TimeUnit.MILLISECONDS));
        thread = new Thread(server::serve, "thrift-receiver");
        thread.start();
    }

    public int port() {
        return socket.getServerSocket().getLocalPort();
    }

    public String address() {
        return "127.0.0.1:" + port();
    }

    /** The next answer that is not given yet. */
    public ThriftReceiver answer(Function<Batch, Reply> answer) {
        answers.add(answer);
        return this;
    }

    public ThriftReceiver answer(Status status, int waitMs) {
        return answer(batch -> new Reply(status, 0, 0, waitMs, 1));
    }

    @Override
    public Reply submit(Batch sent) {
        Batch batch = Unpack.unpacked(sent);
        batches.add(batch);
        Function<Batch, Reply> answer = answers.poll();
        return answer != null ? answer.apply(batch) : ok(batch);
    }

    public static Reply ok(Batch batch) {
        return new Reply(Status.OK, batch.getSpansSize(), 0, 0, 1);
    }

    @Override
    public Reply submitRecords(RecordBatch batch) {
        throw new AssertionError("not called by this sender");
    }

    @Override
    public Reply submitPlain(List<PlainSpan> spans) {
        throw new AssertionError("not called by this sender");
    }

    public Batch next() throws InterruptedException {
        Batch batch = batches.poll(WAIT_SECONDS, TimeUnit.SECONDS);
        if (batch == null) {
            throw new AssertionError("no batch came");
        }
        return batch;
    }

    /** Function names of the next n spans, of as many batches as it takes. */
    public List<String> nextNames(int n) throws InterruptedException {
        List<String> names = new ArrayList<>();
        while (names.size() < n) {
            Batch batch = next();
            for (Span span : batch.getSpans()) {
                names.add(batch.getStrings().get(span.getName()));
            }
        }
        return names;
    }

    public int waitingBatches() {
        return batches.size();
    }

    /**
     * As a process that is killed: listens no more, and all connections break. A closed socket goes on listening until
     * the thread that waits at it has left: a sender that comes back before that would be let in, and its batch lost.
     */
    public void kill() {
        server.stop();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        connections.forEach(TSocket::close);
    }

    @Override
    public void close() {
        kill();
    }
}
