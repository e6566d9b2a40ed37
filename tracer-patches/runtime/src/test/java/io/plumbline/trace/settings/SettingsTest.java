package io.plumbline.trace.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.trace.report.Trouble;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Where settings come from, and what is said of mistakes. */
class SettingsTest {
    @TempDir
    Path folder;

    private static Settings of(String argument) {
        return Settings.strict(argument, Map.of());
    }

    private String file(String text) throws Exception {
        return Files.writeString(folder.resolve("plumb-agent.conf"), text).toString();
    }

    @Test
    void defaults() {
        Settings settings = of(null);
        assertEquals("127.0.0.1:9410", settings.get("receivers"));
        assertEquals("100000", settings.get("queue.spans"));
        assertNull(settings.get("functions"));
        assertNull(settings.get("no.such.key"));
        assertTrue(settings.on("propagation"));
        assertFalse(settings.on("background"));
        assertEquals(List.of(), settings.problems());
    }

    @Test
    void argumentIsSplitAtCommasBeforeKeys() {
        Settings settings = of("receivers=a:9410,b:9411, [::1]:9412,sampling=Workload#*=always; 0.01,background=on");
        assertEquals("a:9410,b:9411,[::1]:9412", settings.get("receivers"));
        assertEquals("Workload#*=always; 0.01", settings.get("sampling"));
        assertTrue(settings.on("background"));
    }

    @Test
    void orderOfWeight() throws Exception {
        String conf =
                file("# a comment\n\nbatch.spans = 3\nqueue.spans=30\nflush.interval.ms =300\nretry.min.ms = 7\n");
        Settings settings = Settings.strict("batch.spans=1,conf=" + conf,
                Map.of("PLUMB_AGENT_BATCH_SPANS", "2", "PLUMB_AGENT_QUEUE_SPANS", "20", "PATH", "x"));
        Map<String, String> hadoop = Map.of("hadoop.htrace.plumb.batch.spans", "4", "hadoop.htrace.plumb.retry.max.ms",
                "444", "fs.client.htrace.plumb.io.timeout.ms", "44", "hadoop.htrace.plumb.io.timeout.ms", "45",
                "hadoop.htrace.plumb.retry.min.ms", "40");
        settings.hadoop("fs.client.htrace.", hadoop::get);
        assertEquals(List.of("1", "20", "300", "7", "444", "44", "3000"),
                Stream.of("batch.spans", "queue.spans", "flush.interval.ms", "retry.min.ms", "retry.max.ms",
                        "io.timeout.ms",
                        "connect.timeout.ms").map(settings::get).collect(Collectors.toList()));
        Map<String, String> inForce = settings.inForce();
        assertEquals("1 (agent argument)", inForce.get("batch.spans"));
        assertEquals("20 (environment)", inForce.get("queue.spans"));
        assertEquals("300 (" + conf + ")", inForce.get("flush.interval.ms"));
        assertEquals("44 (Hadoop, fs.client.htrace.)", inForce.get("io.timeout.ms"));
        assertEquals("3000 (default)", inForce.get("connect.timeout.ms"));
    }

    @Test
    void environmentNamesTheFile() throws Exception {
        Map<String, String> environment = Map.of("PLUMB_AGENT_CONF", file("protocol = binary"));
        assertEquals("binary", Settings.strict(null, environment).get("protocol"));
        assertEquals("binary", Settings.lenient(environment).get("protocol"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "samplin=always | agent argument: unknown key 'samplin': did you mean 'sampling'?",
        "zzzzzzzz=1 | agent argument: unknown key 'zzzzzzzz': --help-config lists all keys",
        "always | agent argument: 'always': key=value,key=value is needed; --help-config lists all keys",
        "queue.spans=0 | agent argument: queue.spans = '0': a whole number from 1 to 100000000 is needed",
        "queue.spans=many | agent argument: queue.spans = 'many': a whole number from 1 to 100000000 is needed",
        "enabled=yes | agent argument: enabled = 'yes': on or off is needed",
        "protocol=json | agent argument: protocol = 'json': compact or binary is needed",
        "enabled=on,enabled=off | agent argument: enabled is set twice",
        "sampling= | agent argument: sampling has no value",
        "sampling=2 | agent argument: sampling = '2': '2' is no choice: 'always', 'never', a fraction from 0 to 1, "
                + "so many a second as '5/s', or 'every 100' is needed",
    })
    void mistakesInTheArgument(String argument, String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> of(argument)).getMessage());
    }

    /** What several keys say together, and what only the sender can tell. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "retry.max.ms=5 | retry.max.ms = 5 is less than retry.min.ms = 100",
        "receivers=a:9410,b:0 | agent argument: receivers = 'a:9410,b:0': host:port is needed: 'b:0' has no port from 1 to "
                + "65535",
    })
    void mistakesThatTheSenderSees(String argument, String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> of(argument)).getMessage());
    }

    @Test
    void everyKeyOfTheSenderIsInTheTable() {
        for (SenderOptions.Key key : SenderOptions.NUMBERS) {
            assertEquals("plumb." + key.name, SettingTable.find(key.name).hadoopKey);
        }
    }

    static Stream<Arguments> files() {
        return Stream.of(
                Arguments.of("# c\nqueue.span = 5\n", ":2: unknown key 'queue.span': did you mean 'queue.spans'?"),
                Arguments.of("queue.spans\n", ":1: 'queue.spans': key = value is needed"),
                Arguments.of("= 5\n", ":1: '= 5': key = value is needed"),
                Arguments.of("enabled = on\n\nenabled = on\n", ":3: enabled is set twice"),
                Arguments.of("report =\n", ":1: report has no value"),
                Arguments.of("conf = x\n", ":1: a file cannot name another one"),
                Arguments.of("batch.bytes = 4194305\n",
                        ":1: batch.bytes = '4194305': a whole number from 1 to 4194304 is needed"));
    }

    @ParameterizedTest
    @MethodSource("files")
    void mistakesInTheFile(String text, String message) throws Exception {
        String conf = file(text);
        Throwable thrown = assertThrows(IllegalArgumentException.class, () -> of("conf=" + conf));
        assertEquals(conf + message, thrown.getMessage());
    }

    @Test
    void fileThatIsNotThere() {
        Throwable thrown = assertThrows(IllegalArgumentException.class, () -> of("conf=" + folder + "/none"));
        assertTrue(thrown.getMessage().startsWith("cannot read " + folder + "/none: "), thrown.getMessage());
    }

    @Test
    void environmentOfOthersIsReportedNotRefused() {
        Settings settings = Settings.strict(null, Map.of("PLUMB_AGENT_SAMPLNG", "always", "PLUMB_AGENT_QQQQQQQQ", "1"));
        assertEquals(List.of("environment: unknown variable PLUMB_AGENT_QQQQQQQQ: --help-config lists all",
                "environment: unknown variable PLUMB_AGENT_SAMPLNG: did you mean PLUMB_AGENT_SAMPLING?"),
                settings.problems());
    }

    @Test
    void wrongEnvironment() {
        Map<String, String> environment = Map.of("PLUMB_AGENT_ENABLED", "1", "PLUMB_AGENT_QUEUE_SPANS", "5");
        String message = "PLUMB_AGENT_ENABLED: enabled = '1': on or off is needed";
        Throwable thrown = assertThrows(IllegalArgumentException.class, () -> Settings.strict(null, environment));
        assertEquals(message, thrown.getMessage());
        Settings settings = Settings.lenient(environment);
        assertEquals(List.of(message + "; all settings but Hadoop's have their defaults"), settings.problems());
        assertEquals("100000", settings.get("queue.spans"));
    }

    /** Woven jars go on with defaults after a mistake; but not where something might leave the process in clear. */
    @Test
    void withoutItsMaskNothingIsTraced() throws Exception {
        Settings wrong = Settings.lenient(Map.of("PLUMB_AGENT_MASK_RULES", "path=hash"));
        assertEquals("off", wrong.get("enabled"));
        assertTrue(wrong.problems().get(0).endsWith("nothing is traced, since it might have to be masked"));
        Path conf = folder.resolve("agent.conf");
        Files.writeString(conf, "mask.rules = path=hash\nqueue.spans = x\n");
        assertEquals("off", Settings.lenient(Map.of("PLUMB_AGENT_CONF", conf.toString())).get("enabled"));
        Files.writeString(conf, "#mask.rules =\nqueue.spans = x\n");
        assertEquals("on", Settings.lenient(Map.of("PLUMB_AGENT_CONF", conf.toString())).get("enabled"));
        Settings settings = of(null);
        settings.hadoop("hadoop.htrace.", Map.of("hadoop.htrace.plumb.mask.rules", "path=hash")::get);
        assertTrue(settings.problems().get(0).contains("the agent takes mask.rules from its own settings alone"));
    }

    @Test
    void wrongValueOfHadoopIsNotUsedAndSaidOnce() {
        Settings settings = of(null);
        Map<String, String> hadoop = Map.of("hadoop.htrace.plumb.queue.spans", "lots", "hadoop.htrace.tracer.id", "x");
        settings.hadoop("namenode.htrace.", hadoop::get);
        settings.hadoop("fs.client.htrace.", hadoop::get);
        assertEquals("100000", settings.get("queue.spans"));
        assertEquals("x", settings.get("tracer.id"));
        assertEquals(List.of("Hadoop's hadoop.htrace.plumb.queue.spans: queue.spans = 'lots': "
                + "a whole number from 1 to 100000000 is needed; not used"), settings.problems());
    }

    @Test
    void valuesOfHadoopThatContradictEachOther() {
        Settings settings = of("retry.min.ms=50");
        settings.hadoop("a.", Map.of("a.plumb.retry.max.ms", "40", "a.plumb.queue.spans", "7")::get);
        assertEquals("100000", settings.get("queue.spans"));
        assertEquals(List
                .of("Hadoop's a.plumb: retry.max.ms = 40 is less than retry.min.ms = 50; none of these keys is used"),
                settings.problems());
    }

    @Test
    void firstConfigurationOfAPrefixStays() {
        Settings settings = of(null);
        settings.hadoop("a.", Map.of("a.plumb.batch.spans", "1")::get);
        settings.hadoop("a.", Map.of("a.plumb.batch.spans", "2", "a.plumb.queue.spans", "2")::get);
        settings.hadoop("b.", Map.of("b.plumb.batch.spans", "3", "b.plumb.queue.spans", "3")::get);
        assertEquals("1", settings.get("batch.spans"));
        assertEquals("3", settings.get("queue.spans"));
    }

    @Test
    void configurationThatThrowsIsLeftOut() {
        long before = Trouble.count(Trouble.Kind.SETTING);
        of(null).hadoop("a.", key -> {
            throw new StackOverflowError(key);
        });
        assertEquals(before + 1, Trouble.count(Trouble.Kind.SETTING));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
        "- | - | - | - | ",
        "AlwaysSampler | - | - | always | ",
        "org.apache.htrace.core.AlwaysSampler | - | - | always | ",
        "NeverSampler | - | - | never | ",
        "ProbabilitySampler | 0.25 | - | 0.25 | ",
        "ProbabilitySampler | 1e-3 | - | 1e-3 | ",
        "CountSampler | - | 100 | every 100 | ",
        "NeverSampler; AlwaysSampler | - | - | always | ",
        "AlwaysSampler;ProbabilitySampler | 0.5 | - | always | ",
        "CountSampler;NeverSampler | - | 4 | every 4 | ",
        "ProbabilitySampler;CountSampler | 0.5 | 4 | 0.625 | ",
        "ProbabilitySampler | - | - | never | Hadoop's hadoop.htrace.sampler.fraction is needed by the sampler; "
                + "nothing is sampled",
        "CountSampler | - | 0 | never | 'every 0' is no choice",
        "ProbabilitySampler | 5/s | - | never | '5/s' is no choice",
        "org.example.Mine | - | - | never | no sampler 'org.example.Mine' is known",
    })
    void samplersOfHTrace(String classes, String fraction, String frequency, String policy, String problem) {
        Map<String, String> conf = new HashMap<>();
        conf.put("fs.client.htrace.sampler.classes", classes);
        conf.put("fs.client.htrace.sampler.fraction", fraction);
        conf.put("fs.client.htrace.sampler.frequency", frequency);
        HadoopSettings said = new HadoopSettings("fs.client.htrace.", conf::get);
        assertEquals(policy, said.sampling);
        assertEquals(problem == null ? 0 : 1, said.problems.size());
        assertTrue(problem == null || said.problems.get(0).contains(problem), () -> said.problems.toString());
    }

    @Test
    void sampleConfigurationIsTheHelp() throws Exception {
        assertEquals(Settings.help(), Files.readString(Path.of("../../conf/plumb-agent.conf")));
    }

    @Test
    void documentHasEveryKeyWithItsDefault() throws Exception {
        String document = Files.readString(Path.of("../../docs/tracing.md"));
        for (Setting setting : SettingTable.all()) {
            String cell = setting.otherwise == null ? " "
                    : setting.otherwise.matches("[0-9]+") ? " " + setting.otherwise + " "
                            : " `" + setting.otherwise + "` ";
            assertTrue(document.contains("\n| `" + setting.name + "` |" + cell + "|"), setting.name);
        }
    }

    /** As a file it is valid, with every line of a key in force too. */
    @Test
    void sampleConfigurationLoads() throws Exception {
        String text = Settings.help();
        assertEquals("1/s", of("conf=" + file(text)).get("sampling"));
        String all = text.replaceAll("(?m)^#([a-z.]+ = )", "$1");
        Settings settings = of("conf=" + file(all));
        assertEquals(1 + SettingTable.all().stream().filter(setting -> setting.otherwise != null).count(),
                settings.inForce().values().stream().filter(value -> !value.endsWith("(default)")).count());
    }
}
