package io.plumbline.weave.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Sampling;
import io.plumbline.weave.classes.ClassEdit;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.WeaveException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The patches in the real classes of Hadoop 3.3.6, 3.4.1 and 3.5.0. */
class ModernHadoopTest {
    private static final String TRACING = "org.apache.hadoop.tracing.";
    private static final String RPC = "org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$";
    private static final String TRANSFER = "org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos$";
    private static final byte[] IDS = ByteBuffer.allocate(16).putLong(-5).putLong(7).array();

    @BeforeEach
    void sampleAll() {
        Sampling.current().fromJmx("always");
    }

    @AfterEach
    void sampleAsBefore() {
        Sampling.current().fromJmx(null);
    }

    private static Stream<Arguments> messages() {
        return Stream.of("3.3.6", "3.4.1", "3.5.0").flatMap(version -> Stream.of(
                Arguments.of(version, RPC + "RPCTraceInfoProto"),
                Arguments.of(version, TRANSFER + "DataTransferTraceInfoProto")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.3.6", "3.4.1", "3.5.0"})
    void all_classes_link(String version) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            int expected = 0;
            for (io.plumbline.weave.classes.Patch patch : ModernHadoop.PATCHES) {
                for (String name : patch.classes()) {
                    assertNotNull(Class.forName(name, true, hadoop).getMethods());
                    expected++;
                }
            }
            assertEquals(expected, hadoop.patched.size());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.3.6", "3.4.1", "3.5.0"})
    void rpc_headers_carry_the_current_span_in_all_fields(String version) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            assertEquals(false, hadoop.on(header(hadoop), "hasTraceInfo"));
            Object tracer = hadoop.call(null, TRACING + "TraceUtils", "createAndRegisterTracer", "FSClient");
            Object scope = hadoop.on(tracer, "newScope", "op");
            Object header = header(hadoop);
            assertEquals(true, hadoop.on(header, "hasTraceInfo"));
            Object context = hadoop.on(hadoop.on(scope, "span"), "getContext");
            hadoop.on(scope, "close");
            Object info = hadoop.on(header, "getTraceInfo");
            String sent = String.format("%016x%016x", hadoop.on(info, "getTraceId"), hadoop.on(info, "getParentId"));
            assertEquals(context.toString(), sent);
            assertEquals(context, hadoop.call(null, TRACING + "TraceUtils", "byteStringToSpanContext",
                    hadoop.on(info, "getSpanContext")));
        }
    }

    /** As the RPC client makes it. */
    private static Object header(ModernHadoop hadoop) throws Exception {
        Object kind = hadoop.loadClass("org.apache.hadoop.ipc.RPC$RpcKind").getField("RPC_PROTOCOL_BUFFER").get(null);
        Object operation = hadoop.loadClass(RPC + "RpcRequestHeaderProto$OperationProto")
                .getField("RPC_FINAL_PACKET").get(null);
        return hadoop.call(null, "org.apache.hadoop.util.ProtoUtil", "makeRpcRequestHeader", kind, operation, 1, 0,
                new byte[16]);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void what_hadoop_writes_has_all_three_fields(String version, String message) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            Object builder = hadoop.call(null, message, "newBuilder");
            hadoop.on(builder, "setSpanContext", bytes(hadoop, IDS));
            byte[] wire = (byte[]) hadoop.on(hadoop.on(builder, "build"), "toByteArray");
            // 1: -5 as a varint of ten bytes; 2: 7; 3: sixteen bytes.
            assertEquals(1 + 10 + 1 + 1 + 2 + 16, wire.length);
            Object read = hadoop.call(null, message, "parseFrom", (Object) wire);
            assertEquals(-5L, hadoop.on(read, "getTraceId"));
            assertEquals(7L, hadoop.on(read, "getParentId"));
            assertEquals("fffffffffffffffb0000000000000007", context(hadoop, read).toString());
        }
    }

    @ParameterizedTest
    @MethodSource("messages")
    void fields_of_htrace_alone_are_understood(String version, String message) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            Object builder = hadoop.call(null, message, "newBuilder");
            hadoop.on(builder, "setTraceId", -5L);
            hadoop.on(builder, "setParentId", 7L);
            byte[] wire = (byte[]) hadoop.on(hadoop.on(builder, "build"), "toByteArray");
            assertEquals(1 + 10 + 1 + 1, wire.length);
            Object read = hadoop.call(null, message, "parseFrom", (Object) wire);
            assertEquals(true, hadoop.on(read, "hasSpanContext"));
            assertEquals("fffffffffffffffb0000000000000007", context(hadoop, read).toString());
        }
    }

    @ParameterizedTest
    @MethodSource("messages")
    void the_third_field_alone_is_understood_and_none_is_none(String version, String message) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            byte[] wire = new byte[18];
            wire[0] = 3 << 3 | 2;
            wire[1] = 16;
            System.arraycopy(IDS, 0, wire, 2, 16);
            Object read = hadoop.call(null, message, "parseFrom", (Object) wire);
            assertFalse((Boolean) hadoop.on(read, "hasTraceId"));
            assertEquals("fffffffffffffffb0000000000000007", context(hadoop, read).toString());
            Object none = hadoop.call(null, message, "parseFrom", (Object) new byte[0]);
            assertFalse((Boolean) hadoop.on(none, "hasSpanContext"));
            assertNull(context(hadoop, none));
            Object foreign = hadoop.call(null, message, "newBuilder");
            hadoop.on(foreign, "setSpanContext", bytes(hadoop, Arrays.copyOf(IDS, 24)));
            assertFalse((Boolean) hadoop.on(foreign, "hasTraceId"));
            assertNull(context(hadoop, hadoop.on(foreign, "build")));
        }
    }

    private static Object context(ModernHadoop hadoop, Object message) throws Exception {
        return hadoop.call(null, TRACING + "TraceUtils", "byteStringToSpanContext",
                hadoop.on(message, "getSpanContext"));
    }

    private static Object bytes(ModernHadoop hadoop, byte[] bytes) throws Exception {
        return hadoop.call(null, "org.apache.hadoop.thirdparty.protobuf.ByteString", "copyFrom", (Object) bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.3.6", "3.4.1", "3.5.0"})
    void with_propagation_off_headers_say_nothing(String version) throws Exception {
        ProcessBuilder child = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", System.getProperty("java.class.path"),
                "-Dplumb.modern.folder=" + System.getProperty("plumb.modern.folder"), Silent.class.getName(), version)
                .redirectErrorStream(true);
        child.environment().put("PLUMB_AGENT_PROPAGATION", "off");
        Process process = child.start();
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
        assertTrue(said.contains("sampled, hasTraceInfo=false"), said);
    }

    /** A process of its own. */
    static final class Silent {
        public static void main(String[] arguments) throws Exception {
            try (ModernHadoop hadoop = new ModernHadoop(arguments[0])) {
                Sampling.current().fromJmx("always");
                Object tracer = hadoop.call(null, TRACING + "TraceUtils", "createAndRegisterTracer", "FSClient");
                Object scope = hadoop.on(tracer, "newScope", "op");
                System.out.println((hadoop.on(scope, "span") == null ? "not " : "") + "sampled, hasTraceInfo="
                        + hadoop.on(header(hadoop), "hasTraceInfo"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.3.6", "3.5.0"})
    void a_version_with_more_in_it_is_left_alone(String version) throws Exception {
        try (ModernHadoop hadoop = new ModernHadoop(version)) {
            String changed = TRACING + "SpanContext";
            byte[] original = hadoop.files.find(changed);
            byte[] more =
                    new ClassEdit(original).addMethod(Opcodes.ACC_PUBLIC, "newer", "()Ljava/lang/String;", code -> {
                        code.visitInsn(Opcodes.ACONST_NULL);
                        code.visitInsn(Opcodes.ARETURN);
                    }).bytes();
            ClassFiles newer = name -> name.equals(changed) ? more : hadoop.files.find(name);
            TracingClasses patch = new TracingClasses();
            assertNotNull(patch.change(changed, original, hadoop.files));
            byte[] tracer = hadoop.files.find(TRACING + "Tracer");
            String message = assertThrows(WeaveException.class,
                    () -> patch.change(TRACING + "Tracer", tracer, newer)).getMessage();
            assertTrue(message.contains("SpanContext has newer()Ljava/lang/String;"), message);
        }
    }
}
