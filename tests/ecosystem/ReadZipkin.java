import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import zipkin2.codec.DependencyLinkBytesDecoder;
import zipkin2.codec.DependencyLinkBytesEncoder;
import zipkin2.codec.SpanBytesDecoder;
import zipkin2.codec.SpanBytesEncoder;

/**
 * Reads answers with Zipkin's own library: lines "spans JSON" or "links JSON". Prints each as the library writes what
 * it has understood.
 */
public final class ReadZipkin {
    private ReadZipkin() {
    }

    private static byte[] again(String kind, byte[] json) {
        if (kind.equals("links")) {
            return DependencyLinkBytesEncoder.JSON_V1.encodeList(DependencyLinkBytesDecoder.JSON_V1.decodeList(json));
        }
        return SpanBytesEncoder.JSON_V2.encodeList(SpanBytesDecoder.JSON_V2.decodeList(json));
    }

    /** Ends with an exception when the library does. */
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int blank = line.indexOf(' ');
            byte[] json = line.substring(blank + 1).getBytes(StandardCharsets.UTF_8);
            System.out.write(again(line.substring(0, blank), json));
            System.out.println();
        }
    }
}
