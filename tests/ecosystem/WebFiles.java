import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Files of HDFS over HTTP: GET reads one and says how long it is, PUT writes one. Knows nothing of tracing. */
public final class WebFiles {
    private WebFiles() {
    }

    public static void main(String[] args) throws Exception {
        FileSystem files = FileSystem.get(new Configuration());
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> answer(files, exchange));
        server.start();
        System.out.println(server.getAddress().getPort());
        while (System.in.read() >= 0) {
            continue;
        }
        server.stop(0);
        files.close();
        System.exit(0);
    }

    private static void answer(FileSystem files, HttpExchange exchange) throws IOException {
        Path path = new Path(exchange.getRequestURI().getPath());
        long size = 0;
        if (exchange.getRequestMethod().equals("PUT")) {
            try (InputStream in = exchange.getRequestBody(); OutputStream out = files.create(path)) {
                size = copy(in, out);
            }
        } else {
            try (InputStream in = files.open(path)) {
                size = copy(in, null);
            }
        }
        byte[] body = Long.toString(size).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static long copy(InputStream in, OutputStream out) throws IOException {
        byte[] some = new byte[65536];
        long size = 0;
        for (int n = in.read(some); n > 0; n = in.read(some)) {
            size += n;
            if (out != null) {
                out.write(some, 0, n);
            }
        }
        return size;
    }
}
