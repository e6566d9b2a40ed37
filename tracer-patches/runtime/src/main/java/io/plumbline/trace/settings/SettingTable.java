package io.plumbline.trace.settings;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.mask.Mask;
import io.plumbline.trace.sampling.Policy;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All keys: the one table that parsing, messages, {@code --help-config} and conf/plumb-agent.conf come from. */
public final class SettingTable {
    private static final List<Setting> ALL = Collections.unmodifiableList(Arrays.asList(
            Setting.text("conf", null, "a file name", "This file. Only as agent argument or in the environment."),
            Setting.text(SenderOptions.RECEIVERS_KEY, SenderOptions.RECEIVERS_DEFAULT,
                    "host:port, separated by commas; IPv6 as [::1]:9410",
                    "Where plumbd listens: the first is used while it works, then the next, round and round.")
                    .checked(SettingTable::receivers).hadoop("plumb.receiver.addresses"),
            Setting.text("sampling", "1/s", "a policy",
                    "Which calls of the application begin a trace. 'always', 'never', a fraction from 0 to 1, '5/s' (so "
                            + "many a second of each function) or 'every 100'. For single functions: 'DFSClient#rename=always; "
                            + "hflush=never; 0.01', the first match decides, * at the end of a name stands for any rest. Servers go "
                            + "on with what clients began, whatever is said here. Where this is not set, Hadoop's keys "
                            + "sampler.classes, sampler.fraction and sampler.frequency decide, if they are.")
                    .checked(Policy::parse),
            Setting.onOff("sampling.receiver", "on", "May plumbd change the sampling of this process while it runs?"),
            Setting.text("functions", null, "a file name",
                    "More functions to trace, of the site's own classes; docs/tracing.md has the format."),
            Setting.onOff("spark.tasks", "on",
                    "Each task of Spark is a root, SparkTask, and all that it causes belongs to it. 'off', or a policy that never "
                            + "samples SparkTask: its calls of HDFS are roots of their own."),
            Setting.text("spark.operations", "sources", "all, sources or off",
                    "Within a traced task: a span for each operation (RDD and partition), with the time that its own code took. "
                            + "'sources': of those only that bring records into the task, from files or a shuffle, which costs a few "
                            + "nanoseconds a record; 'all' costs that for each operation that a record passes through.")
                    .checked(OperationChoice::of),
            Setting.onOff("spark.jvm", "on",
                    "With each operation: memory, threads, collections and more of the JVM at its begin and end."),
            Setting.onOff("background", "off",
                    "Trace what no user asked for as well: heartbeats and block reports, with the commands they carry."),
            Setting.onOff("propagation", "on",
                    "Pass the current span on to other processes. Hadoop 3.3.2 and later; 'off' for peers that fail on it."),
            Setting.onOff("application.spans", "on",
                    "Where the application has a span of OpenTelemetry going on (its agent, or its API on the class path), "
                            + "calls that would begin a trace are below it, in its trace, whatever 'sampling' says but 'never'. "
                            + "'off': they begin traces of their own."),
            Setting.text("tracer.id", TracerIdFormat.USUAL, "text",
                    "The process's name in spans; its number is added to names of the form name/host. %{tname} is the "
                            + "tracer's name, %{pname} the process's, %{host} the host's, %{ip} its address, "
                            + "%{pid} the number.")
                    .hadoop("tracer.id"),
            Setting.text("report", null, "a file name",
                    "What was woven and what was not found is written there; %{pid} in the name keeps processes apart."),
            Setting.onOff("enabled", "on", "'off': the agent does nothing at all in this process."),
            Setting.choice(SenderOptions.PROTOCOL_KEY, "compact", "compact", "binary", "Thrift protocol.")
                    .hadoop("plumb.protocol"),
            sender("queue.spans", "Spans that wait to be sent, at most."),
            sender("queue.bytes", "Memory of the spans that wait, at most."),
            sender("batch.spans", "Spans sent at once, at most."),
            sender("batch.bytes", "Their size, at most, each measured as if it stood alone; a larger span goes alone."),
            sender("flush.interval.ms", "A batch that is not full is sent after this time."),
            sender("connect.timeout.ms", "For one connection."),
            sender("io.timeout.ms", "For a whole batch to be sent, and again for its whole answer."),
            sender("retry.min.ms",
                    "Wait after every receiver has failed in turn, less up to a quarter at random; doubled each time."),
            sender("retry.max.ms", "Up to this."),
            sender("receiver.wait.ms",
                    "How long a batch without an answer waits for the receiver that may have it, before it goes to the next "
                            + "one, which would count its spans a second time."),
            sender("shutdown.timeout.ms", "How long the end of the process waits for queued spans to be sent."),
            Setting.onOff(SenderOptions.TLS_KEY, "off",
                    "Send under TLS 1.2 or later. The name in receivers must be one of the receiver's certificate.")
                    .hadoop("plumb.tls"),
            Setting.text(SenderOptions.TRUST_KEY, null, "a file name",
                    "Who signs receivers' certificates, PEM. Where it is not set: whom the JVM trusts.")
                    .hadoop("plumb.tls.trust"),
            Setting.text(SenderOptions.CERTIFICATE_KEY, null, "a file name",
                    "Log in with this certificate, PEM, and those between it and its CA.")
                    .hadoop("plumb.tls.certificate"),
            Setting.text(SenderOptions.KEY_KEY, null, "a file name", "And its key, PEM (PKCS #8).")
                    .hadoop("plumb.tls.key"),
            Setting.text(SenderOptions.AUTH_KEY, "none", "none, kerberos or token",
                    "How to log in where no certificate does it. 'kerberos': with the keytab below, else with the process's own "
                            + "login in Hadoop, else with the ticket cache. A token needs TLS.")
                    .checked(SenderOptions::auth).hadoop("plumb.auth"),
            Setting.text(SenderOptions.SERVICE_KEY, SenderOptions.SERVICE_DEFAULT, "text",
                    "The receiver's principal is this, '/' and its name in receivers.").hadoop("plumb.auth.service"),
            Setting.text(SenderOptions.PRINCIPAL_KEY, null, "a principal",
                    "Whom to log in as, for auth.keytab, or of the ticket cache; _HOST is the name of this host.")
                    .hadoop("plumb.auth.principal"),
            Setting.text(SenderOptions.KEYTAB_KEY, null, "a file name", "A keytab with its key.")
                    .hadoop("plumb.auth.keytab"),
            Setting.text(SenderOptions.TOKEN_KEY, null, "a file name",
                    "The file with the token, for 'auth = token', and for 'auth = kerberos' where the process has no ticket, as "
                            + "executors of Spark on YARN.")
                    .hadoop("plumb.auth.token.file"),
            Setting.text(SenderOptions.MASK_RULES_KEY, null, "rules, separated by ;",
                    "What is masked before it leaves the process, as in plumbd's mask.rules: 'path=keep 2; annotation:user=hash'.")
                    .checked(Mask::check),
            Setting.text(SenderOptions.MASK_KEY_KEY, null, "a file name",
                    "With the key, which only its owner may read; the same as plumbd's, if that masks as well.")));
    private static final Map<String, Setting> BY_NAME = byName();
    private static final int WIDTH = 100;

    private SettingTable() {
    }

    /** @throws IllegalArgumentException saying which address is wrong */
    private static SenderOptions receivers(String value) {
        return new SenderOptions(key -> key.equals(SenderOptions.RECEIVERS_KEY) ? value : null,
                key -> "host:port is needed");
    }

    /** Default and bounds are the sender's own. */
    private static Setting sender(String name, String help) {
        for (SenderOptions.Key key : SenderOptions.NUMBERS) {
            if (key.name.equals(name)) {
                return Setting.number(name, key.otherwise, key.least, key.greatest, help).hadoop("plumb." + name);
            }
        }
        throw new AssertionError(name);
    }

    private static Map<String, Setting> byName() {
        Map<String, Setting> map = new LinkedHashMap<>();
        for (Setting setting : ALL) {
            map.put(setting.name, setting);
        }
        return map;
    }

    static List<Setting> all() {
        return ALL;
    }

    /** Null when there is none. */
    public static Setting find(String name) {
        return BY_NAME.get(name);
    }

    /** @throws IllegalArgumentException naming the place, the key and the nearest key there is */
    static Setting get(String where, String name) {
        Setting setting = find(name);
        if (setting == null) {
            throw new IllegalArgumentException(where + ": unknown key '" + name + "': " + hint(name));
        }
        return setting;
    }

    static String hint(String name) {
        String nearest = Nearest.of(name, BY_NAME.keySet());
        return nearest == null ? "--help-config lists all keys" : "did you mean '" + nearest + "'?";
    }

    /** A configuration file with every key as a comment. */
    static String help() {
        StringBuilder text = new StringBuilder("# Configuration of plumb-agent.jar\n");
        wrap(text, "A key is set, in this order of weight, by the agent's argument (-javaagent:plumb-agent.jar="
                + "receivers=HOST:9410,sampling=0.01), by an environment variable (PLUMB_AGENT_SAMPLING), in this file "
                + "(conf=FILE or PLUMB_AGENT_CONF), and where it says so in Hadoop's configuration.");
        for (Setting setting : ALL) {
            text.append('\n');
            wrap(text, setting.help);
            wrap(text, "Takes " + setting.takes + ".");
            wrap(text, "Also " + setting.variable()
                    + (setting.hadoopKey == null ? "." : "; Hadoop's hadoop.htrace." + setting.hadoopKey + "."));
            text.append('#').append(setting.name).append(" =").append(setting.otherwise == null ? "" : " ")
                    .append(setting.otherwise == null ? "" : setting.otherwise).append('\n');
        }
        return text.toString();
    }

    private static void wrap(StringBuilder text, String paragraph) {
        int column = 0;
        for (String word : paragraph.split(" ")) {
            if (column > 0 && column + 1 + word.length() > WIDTH) {
                text.append('\n');
                column = 0;
            }
            text.append(column == 0 ? "# " : " ").append(word);
            column += (column == 0 ? 2 : 1) + word.length();
        }
        text.append('\n');
    }
}
