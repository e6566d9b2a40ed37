#include "receiver/settings.h"

#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/model/mask.h"
#include "common/model/naming.h"
#include "common/model/sampling.h"
#include "receiver/background/advice.h"

#define MIB (G_GINT64_CONSTANT(1) << 20)
#define GIB (G_GINT64_CONSTANT(1) << 30)
/* What open traces keep of a span is about half of what it takes when its trace is closed, often less. */
#define TRACE_BYTES_TIGHT    2
#define QUESTION_BYTES_LEAST ((gsize)16 << 20)
#define DAY                  (24 * 60 * NS_PER_MINUTE)

const ConfigOption settings_table[] = {
    {"listen.thrift", CONFIG_STRING, "127.0.0.1:9410", 0, 0, NULL, FALSE,
     "Address and port for spans over Thrift: host:port or [v6]:port. Port 0 takes any free one; the line printed when "
     "plumbd is ready names it. An address that other hosts reach needs listen.insecure."},
    {"listen.http", CONFIG_STRING, "127.0.0.1:9096", 0, 0, NULL, FALSE,
     "Address and port for HTTP: the JSON API, /metrics, /healthz, /readyz."},
    {"listen.hrpc", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "Address and port for spans over HRPC, as HTrace's clients of htraced send them to port 9075. It has neither TLS "
     "nor a login: for loopback, or with listen.insecure. Empty: off."},
    {"listen.insecure", CONFIG_BOOL, "no", 0, 0, NULL, FALSE,
     "plumbd may listen at addresses that other hosts reach without TLS and a way to log in: anybody there can send "
     "spans, and read file names, queries and users. Only where the network keeps strangers out."},
    {"listen.max-connections", CONFIG_INT, "4096", 1, 1000000, NULL, FALSE,
     "Connections of senders at one time. When there are as many, the address with most of them gives way: its longest "
     "idle one is closed for one of an address that has fewer, and more of its own are refused."},
    {"listen.per-address", CONFIG_INT, "512", 0, 1000000, NULL, FALSE,
     "Connections of senders of one address at one time, but for 127.0.0.1 and ::1, where a proxy may be. More of them "
     "are refused. 0: as many as there are places."},
    {"listen.frame-limit", CONFIG_SIZE, "32M", 1024, LIMIT_FRAME_BYTES, NULL, FALSE,
     "Largest Thrift frame; a sender that declares a larger one is disconnected before it is read."},
    {"listen.buffer-limit", CONFIG_SIZE, "0", 0, 64 * GIB, NULL, FALSE,
     "Memory for unfinished frames of all connections together, 1M at least. One address gets three quarters of it at "
     "most. 0: a quarter of memory.limit, and two of the largest frames at least."},
    {"listen.frame-timeout", CONFIG_DURATION, "30s", NS_PER_MS, DAY, NULL, FALSE,
     "A frame that was begun must be whole after so long, a reply read; otherwise the connection is closed."},
    {"listen.idle-timeout", CONFIG_DURATION, "10m", NS_PER_MS, DAY, NULL, FALSE,
     "A connection on which nothing comes for so long is closed; senders connect again."},

    {"tls.certificate", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "PEM file with the certificate of this server, and those between it and its CA. With it, both ports speak TLS and "
     "nothing else. Files of TLS are read again on SIGHUP, and within a minute when their time has changed."},
    {"tls.key", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "PEM file with its key, without a passphrase: of root or of the user that plumbd runs as, with mode 600, no "
     "link."},
    {"tls.clients", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "PEM file with the CAs that sign the certificates by which senders and readers log in."},
    {"tls.crl", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "PEM file with the certificates of clients that these CAs have taken back."},
    {"tls.require-certificate", CONFIG_BOOL, "no", 0, 0, NULL, FALSE,
     "Connections without a certificate of tls.clients are refused, probes and metrics included."},
    {"tls.least", CONFIG_ENUM, "1.2", 0, 0, "1.2|1.3", FALSE, "The oldest version of TLS that is spoken."},

    {"auth.tokens", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "File with the hashes of tokens by which senders and readers log in, and their roles; `plumb token new` makes "
     "them. A secret file, as tls.key; it is read again when those of TLS are."},

    {"kerberos.keytab", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "Keytab with the keys of this server, by which senders and readers log in with Kerberos: GSSAPI on the Thrift "
     "port, SPNEGO over HTTP. A secret file, as tls.key; it is read again when those of TLS are."},
    {"kerberos.principals", CONFIG_LIST, "plumb/_HOST; HTTP/_HOST", 0, 0, NULL, FALSE,
     "The services of this server, whose keys are in the keytab; _HOST is the name of this machine. Those that begin "
     "with HTTP/ are for HTTP, the others for the Thrift port."},

    {"access.write", CONFIG_LIST, "", 0, 0, NULL, TRUE,
     "Who may send spans and records: cert:NAME (the name in a certificate of tls.clients), token:NAME, "
     "krb5:NAME@REALM, with * for any text, or anonymous (who has not logged in), with ; between. Empty: "
     "anonymous where a port is on loopback or "
     "insecure, else nobody. The same holds for the other roles."},
    {"access.read", CONFIG_LIST, "", 0, 0, NULL, TRUE, "Who may ask questions, export, see the page and the metrics."},
    {"access.metrics", CONFIG_LIST, "", 0, 0, NULL, TRUE, "Who may see /metrics."},
    {"access.peer", CONFIG_LIST, "", 0, 0, NULL, TRUE,
     "For several plumbd that answer together; nothing "
     "asks for it yet."},
    {"access.admin", CONFIG_LIST, "", 0, 0, NULL, TRUE, "Who may do all of this, and flush."},

    {"access.names", CONFIG_ENUM, "warn", 0, 0, "off|warn|strict", TRUE,
     "What happens to spans under the name of a NameNode, DataNode or JournalNode that another principal sent first "
     "since the start. warn: they are taken, counted and told. strict: their sender is told to try later. off forgets "
     "who was first."},

    {"quota.spans", CONFIG_LIST, "", 0, 0, NULL, TRUE,
     "Spans a second that each sender may send: NAME=NUMBER, with ; between, of which the first that fits decides, and "
     "for all others a number alone at the end, like token:bridge=50k; cert:*=10k; 0. Names are those of access.write; "
     "anonymous is each address for itself. Numbers may end in k or M; 0 is no limit. Who is over it is told to try "
     "later. Empty: no limit. The other quotas are written in the same way."},
    {"quota.bytes", CONFIG_LIST, "", 0, 0, NULL, TRUE, "Bytes of batches a second that each sender may send."},
    {"quota.questions", CONFIG_LIST, "", 0, 0, NULL, TRUE,
     "Questions a minute that each reader may ask, exports and flushes included; others are answered with 429."},
    {"quota.connections", CONFIG_LIST, "", 0, 0, NULL, TRUE,
     "Connections to the span port that each sender may have at one time."},

    {"mask.rules", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "What is masked before anything is kept: entries with ; between, of which the first that fits decides, like "
     "path=keep 2; annotation:user=hash; annotation:sql=drop. About path, annotation:KEY, note, name:NAME or "
     "record:FIELD; hash, drop, or keep N (components of a path). Equal texts stay equal."},
    {"mask.key", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "File with the key of these hashes, 16 bytes or more (`openssl rand -hex 32`): a secret file, as tls.key. With "
     "another key equal texts are no longer equal to those that are stored."},
    {"audit.log", CONFIG_ENUM, "changes", 0, 0, "none|changes|reads", TRUE,
     "What the audit log has, one line of JSON each. changes: logins, what is refused, flushes, exports, starts and "
     "reloads. reads: all questions, too."},
    {"audit.path", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "File of the audit log, which SIGHUP opens anew (logrotate). Empty: the lines go to plumbd's own log."},

    {"kafka.brokers", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "Brokers of Kafka, host:port with commas between: spans are also read from a topic there, in Zipkin's forms "
     "(Thrift, as HTrace's receiver for Kafka writes them, or JSON). Empty: not."},
    {"kafka.topic", CONFIG_STRING, "zipkin", 0, 0, NULL, FALSE, "The topic with the spans."},
    {"kafka.group", CONFIG_STRING, "plumbd", 0, 0, NULL, FALSE,
     "The group of consumers. Its offset is committed when spans are acknowledged (journal.ack)."},
    {"kafka.options", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "What else librdkafka is told, key=value with ; between, like security.protocol=SASL_SSL; "
     "sasl.mechanism=SCRAM-SHA-512; sasl.username=plumbd; ssl.ca.location=/etc/plumbline/kafka-ca.pem. Passwords are "
     "in kafka.secrets."},
    {"kafka.secrets", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "File with more of them, key=value a line, like sasl.password: a secret file, as tls.key."},

    {"http.hosts", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "Names by which this server is asked, beside localhost, addresses in figures, the name in listen.http and those "
     "of the machine: *.example.org stands for all below it, * for any. Requests for other names are refused, since a "
     "page in somebody's browser may have made them."},
    {"http.max-connections", CONFIG_INT, "512", 4, 100000, NULL, FALSE,
     "Connections over HTTP at one time. When there are as many, "
     "idle ones and those of the address with most of them give way."},
    {"http.timeout", CONFIG_DURATION, "30s", 100 * NS_PER_MS, DAY, NULL, FALSE,
     "A request that was begun must be whole after so long, and so long a reader may take nothing of its answer; then "
     "the connection is closed."},
    {"http.query-threads", CONFIG_INT, "2", 1, 64, NULL, FALSE,
     "Questions of one peer (address) that are answered at the same time; of all, one more."},
    {"http.queue", CONFIG_INT, "64", 1, 10000, NULL, FALSE,
     "Questions that wait for their turn; more are answered with 503, those of the peer with most of them first."},
    {"http.question-memory", CONFIG_SIZE, "0", 0, 64 * GIB, NULL, TRUE,
     "Memory for answering questions, of all together; a question that needs more is refused, and told what to ask "
     "for. 0: a quarter of memory.limit."},
    {"http.question-timeout", CONFIG_DURATION, "2m", 0, DAY, NULL, FALSE,
     "A question that takes longer is refused; verify, and exports "
     "that are read, may take as long as they need. 0: never."},

    {"shell.enabled", CONFIG_ENUM, "auto", 0, 0, "auto|yes|no", FALSE,
     "The page may have plumbd run analyses: `plumb` with a command of a fixed list, never a shell. auto: unless "
     "anybody reaches the port without a login (listen.insecure)."},
    {"shell.program", CONFIG_STRING, "", 0, 0, NULL, FALSE,
     "The program plumb, with its folder. Empty: beside plumbd."},
    {"shell.at-once", CONFIG_INT, "4", 1, 64, NULL, FALSE, "Analyses that run at the same time."},
    {"shell.per-peer", CONFIG_INT, "2", 1, 64, NULL, FALSE, "The same, for one peer (address)."},
    {"shell.time-limit", CONFIG_DURATION, "5m", NS_PER_SEC, DAY, NULL, FALSE,
     "An analysis that takes longer is ended; so is one that takes so much processor time."},
    {"shell.output-limit", CONFIG_SIZE, "1M", 4096, 64 * MIB, NULL, FALSE,
     "What is kept of an analysis's lines; one that writes more is ended. Lines of those that ended of late take four "
     "times as much."},
    {"shell.memory", CONFIG_SIZE, "1G", 0, 64 * GIB, NULL, FALSE,
     "Addresses that an analysis's process may use, libraries included. 0: no limit."},

    {"receiver.net-threads", CONFIG_INT, "0", 0, 64, NULL, FALSE,
     "Threads that read and decode; 0: one for every four processors."},
    {"receiver.shards", CONFIG_INT, "0", 0, 256, NULL, FALSE,
     "Threads that own open traces and store them; 0: as many as processors."},
    {"receiver.queue-limit", CONFIG_SIZE, "12M", 64 * 1024, GIB, NULL, FALSE,
     "Spans that wait for one shard; past it, senders wait."},

    {"trace.idle", CONFIG_DURATION, "30s", NS_PER_MS, DAY, NULL, TRUE,
     "A trace whose root has come is complete, and is stored, after so long without a span. Later spans still join "
     "it. From 50,000 spans a second on, traces of 1,000 spans or more wait longer: for twice as long at 100,000, and "
     "so on, up to eight times."},
    {"trace.max-age", CONFIG_DURATION, "5m", NS_PER_MS, DAY, NULL, TRUE,
     "Any trace is stored after so long, whether its root came or not. Later spans still join it."},
    {"trace.max-spans", CONFIG_INT, "100000", 1000, 4000000, NULL, TRUE,
     "A trace with so many spans is stored at once, and kept in parts of that size."},
    {"trace.max-size", CONFIG_SIZE, "4M", MIB, 64 * GIB, NULL, TRUE,
     "The same, however few spans it has, when they take so much memory beyond 128 bytes each: with parents and "
     "annotations by the thousand. No more than a 32nd of memory.limit counts."},
    {"trace.clock-tolerance", CONFIG_DURATION, "2ms", 0, 60 * NS_PER_SEC, NULL, FALSE,
     "A span outside of its parent by more than this is flagged."},

    {"memory.limit", CONFIG_SIZE, "368M", 4 * MIB, 1024 * GIB, NULL, TRUE,
     "Memory of plumbd in all. Open traces get what the store, queues and groups leave of it, and at least a quarter; "
     "past half of that large ones go to a file in journal.path, past all of it those that were quiet longest, and "
     "complete ones are stored early; nothing is lost."},

    {"store.path", CONFIG_STRING, "/var/lib/plumbline/store", 0, 0, NULL, FALSE, "Folder of the store (RocksDB)."},
    {"store.warn-free", CONFIG_SIZE, "8G", 0, 1024 * GIB, NULL, TRUE,
     "Free space on the store's file system below which plumbd warns. 0: never."},
    {"store.thin-free", CONFIG_SIZE, "4G", 0, 1024 * GIB, NULL, TRUE,
     "Free space below which frequent traces are thinned out (retention.keep), until a tenth more is free. 0: never."},
    {"store.min-free", CONFIG_SIZE, "512M", 0, 1024 * GIB, NULL, TRUE,
     "Free space below which no new spans are taken, on the store's and "
     "on the journal's file system. 0: only when they are really full."},
    {"store.keep", CONFIG_LIST, "ids; annotations; notes", 0, 0, NULL, FALSE,
     "What is kept of each span beside its times, process and place in the tree: ids, annotations, notes. "
     "annotation:KEY keeps that one instead of all. What is left out is gone, and so marked; statistics lose nothing: "
     "the annotation 'bytes', of which they are made, stays. Without ids, 1 to 2 bytes a span are saved, or 8 where "
     "not our agent drew them."},
    {"store.ids-for", CONFIG_DURATION, "1h", NS_PER_MINUTE, 365 * DAY, NULL, FALSE,
     "Where store.keep lacks ids, how long they are kept beside the traces, so that late spans join theirs, and "
     "repeated ones change nothing. What comes later becomes a part of its own."},
    {"store.cache", CONFIG_SIZE, "32M", MIB, 1024 * GIB, NULL, FALSE, "The store's cache for reading."},
    {"store.write-buffer", CONFIG_SIZE, "16M", MIB, 16 * GIB, NULL, FALSE,
     "What the store collects in memory before it writes a file."},

    {"retention.traces", CONFIG_DURATION, "7d", 0, 100 * 366 * DAY, NULL, TRUE,
     "Traces go at this age, as told by their begin; counted from the end of what is stored, or from now if that is "
     "earlier. 0: never. Statistics have ages of their own."},
    {"retention.minutes", CONFIG_DURATION, "14d", 0, 100 * 366 * DAY, NULL, TRUE,
     "Age of statistics by the minute. Questions about a time before are answered by the hour."},
    {"retention.hours", CONFIG_DURATION, "400d", 0, 100 * 366 * DAY, NULL, TRUE, "Age of statistics by the hour."},
    {"retention.days", CONFIG_DURATION, "0", 0, 100 * 366 * DAY, NULL, TRUE,
     "Age of statistics by the day. 0: for ever."},
    {"retention.applications", CONFIG_DURATION, "30d", 0, 100 * 366 * DAY, NULL, TRUE,
     "Applications of Spark go as a whole at this age, counted from their end, or from when something of "
     "them was last stored; samples of hosts by their time. 0: never. When space is short (store.thin-free), "
     "the one that ended first goes, and so on, but none that is younger than retention.whole."},
    {"retention.keep", CONFIG_INT, "100", 1, 1000000, NULL, TRUE,
     "When space is short (store.thin-free): so many traces of each pattern and hour "
     "stay, with equal chances, then half as many, and so on; besides all of rare "
     "patterns, and those that are slow for their pattern, incomplete or flagged."},
    {"retention.whole", CONFIG_DURATION, "1h", 0, 366 * DAY, NULL, TRUE,
     "Traces younger than this are not thinned out."},

    {"journal.path", CONFIG_STRING, "/var/lib/plumbline/journal", 0, 0, NULL, FALSE,
     "Folder of the journal: spans that were acknowledged and are not in the store yet."},
    {"journal.ack", CONFIG_ENUM, "journal", 0, 0, "journal|fsync|memory", FALSE,
     "When a batch is acknowledged: journal: it is written (survives kill -9); fsync: it is on the disk (survives a "
     "power cut); memory: it was decoded (a crash loses what is not stored)."},
    {"journal.segment", CONFIG_SIZE, "64M", 64 * 1024, GIB, NULL, FALSE, "Size of a file of the journal."},
    {"journal.limit", CONFIG_SIZE, "16G", MIB, 1024 * GIB, NULL, TRUE,
     "Size of the journal past which the traces that keep its oldest files are stored early; from half of "
     "it on, traces are waited for less long; at twice this size, no new spans are taken. Where the disk "
     "is small, a quarter of what is free counts instead, without store.thin-free and store.min-free."},

    {"naming.rules", CONFIG_LIST,
     "sendBlock_{n}; BlockReaderLocal#fillBuffer({n}); BlockReaderLocalLegacy#fillBuffer({n}); "
     "BlockReaderRemote2#readNextPacket({n}); BlockReaderRemote#readChunk({n}); hedgedRead{n}",
     0, 0, NULL, FALSE, "Function names that carry a number, {n}: the number goes into an annotation."},

    {"naming.per-peer", CONFIG_INT, "10000", 1, 30000000, NULL, FALSE,
     "New function names and annotation keys that one address may bring, since the start. In further ones numbers "
     "become #, and past a quarter as many of those all is (other); spans keep the name as it was sent, in the "
     "annotation (name)."},
    {"naming.limit", CONFIG_INT, "100000", 1, 30000000, NULL, FALSE, "The same, of all addresses together."},

    {"senders.sampling", CONFIG_STRING, "", 0, 0, NULL, TRUE,
     "Which root calls senders are to trace: entries with ';' between, of which the first that fits decides, like "
     "Workload#*=always; hflush=never; 0.01. Each is a function ('*' at its end: any rest), '=' and a choice; the last "
     "may be a choice alone, for all others. Choices: always, never, a fraction from 0 to 1, 5/s (so many a second of "
     "each function), every 100. Every answer to a sender carries it, over what the sender itself is configured to. "
     "Empty: senders decide. auto: every call while the receiver keeps up, so many a second of each function, ever "
     "fewer, while it does not."},
    {"senders.rate", CONFIG_INT, "0", 0, 1000000000, NULL, TRUE,
     "With senders.sampling = auto: spans a second that are to "
     "come in at most, roughly. 0: as many as plumbd can take."},

    {"log.level", CONFIG_ENUM, "notice", 0, 0, "error|warning|notice|info|debug", TRUE, "What is logged on stderr."},

    {"stop.timeout", CONFIG_DURATION, "60s", 0, DAY, NULL, TRUE,
     "When plumbd is stopped: for so long it stores what is open. What is left then, or what a store that fails does "
     "not take, stays in the journal, and the next start takes it in. With journal.ack = memory all is stored, however "
     "long that takes, unless the store fails for so long."},
    {0},
};

static guint threads_or(gint64 wanted, guint fallback) { return wanted > 0 ? (guint)wanted : MAX(fallback, 1); }

static const char *const access_keys[ACCESS_ROLES] = {"access.write", "access.read", "access.metrics", "access.peer",
                                                      "access.admin"};

static gboolean check_mask(const Settings *settings, GError **error) {
    g_autoptr(Mask) mask = mask_new((const char *const *)settings->mask_rules, NULL, 0, error);
    if (mask == NULL) return FALSE;
    if ((settings->mask_rules[0] != NULL) == (settings->mask_key[0] != '\0')) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG,
                "mask.rules and mask.key: masking needs both; a hash without a key can be "
                "guessed");
}

static gboolean check(const Settings *settings, GError **error) {
    if (settings->shell.program[0] != '\0' && !g_path_is_absolute(settings->shell.program))
        return fail(error, PLUMB_ERROR_CONFIG, "shell.program: name it with its folder, from / on");
    if (settings->store_path[0] == '\0') return fail(error, PLUMB_ERROR_CONFIG, "store.path is empty: name a folder");
    if (settings->journal_path[0] == '\0')
        return fail(error, PLUMB_ERROR_CONFIG, "journal.path is empty: name a folder");
    if (g_strcmp0(settings->store_path, settings->journal_path) == 0)
        return fail(error, PLUMB_ERROR_CONFIG, "store.path and journal.path are the same folder: %s",
                    settings->store_path);
    if (!check_mask(settings, error)) return FALSE;
    if (!kafka_settings_check(&settings->kafka, error)) return FALSE;
    if (!quota_rules_check(&settings->quota, error)) return FALSE;
    for (guint i = 0; i < ACCESS_ROLES; i++)
        if (!access_list_check(access_keys[i], settings->security.rules.lists[i], error)) return FALSE;
    NamingRules *rules = naming_rules_new((const char *const *)settings->name_rules, error);
    if (!rules) {
        g_prefix_error(error, "naming.rules: ");
        return FALSE;
    }
    naming_rules_free(rules);
    if (!settings->sampling_auto && !sampling_check(settings->sampling, error)) {
        g_prefix_error(error, "senders.sampling: ");
        return FALSE;
    }
    return TRUE;
}

static RetentionLimits retention_limits(const Config *config) {
    return (RetentionLimits){
        .ages = {.traces_ns = config_duration_ns(config, "retention.traces"),
                 .level_ns = {[LEVEL_MINUTE] = config_duration_ns(config, "retention.minutes"),
                              [LEVEL_HOUR] = config_duration_ns(config, "retention.hours"),
                              [LEVEL_DAY] = config_duration_ns(config, "retention.days")}},
        .applications_ns = config_duration_ns(config, "retention.applications"),
        .thresholds = {config_size_bytes(config, "store.warn-free"), config_size_bytes(config, "store.thin-free")},
        .keep = (guint)config_int(config, "retention.keep"),
        .whole_ns = config_duration_ns(config, "retention.whole"),
    };
}

/* However little memory plumbd has, small questions are answered. */
static gsize question_bytes(const Config *config) {
    const gsize wanted = config_size_bytes(config, "http.question-memory");
    return wanted > 0 ? wanted : MAX(config_size_bytes(config, "memory.limit") / 4, QUESTION_BYTES_LEAST);
}

/* However little memory plumbd has, the largest frame becomes whole. */
static gsize buffer_bytes(const Config *config) {
    const gsize wanted = config_size_bytes(config, "listen.buffer-limit");
    if (wanted > 0) return MAX(wanted, MIB);
    return MAX(config_size_bytes(config, "memory.limit") / 4, 2 * config_size_bytes(config, "listen.frame-limit"));
}

static gsize trace_bytes(const Config *config) {
    return MIN(config_size_bytes(config, "trace.max-size"), config_size_bytes(config, "memory.limit") / 32);
}

static SecuritySettings security_of(const Config *config) {
    SecuritySettings security = {
        .tls = {.certificate = g_strdup(config_string(config, "tls.certificate")),
                .key = g_strdup(config_string(config, "tls.key")),
                .clients = g_strdup(config_string(config, "tls.clients")),
                .crl = g_strdup(config_string(config, "tls.crl")),
                .require_certificate = config_bool(config, "tls.require-certificate"),
                .least = (TlsLeast)config_enum(config, "tls.least")},
    };
    security.tokens = g_strdup(config_string(config, "auth.tokens"));
    security.keytab = g_strdup(config_string(config, "kerberos.keytab"));
    security.principals = (const char *const *)g_strdupv((char **)config_list(config, "kerberos.principals"));
    for (guint i = 0; i < ACCESS_ROLES; i++)
        security.rules.lists[i] = (const char *const *)g_strdupv((char **)config_list(config, access_keys[i]));
    return security;
}

static void security_settings_clear(SecuritySettings *security) {
    g_free((char *)security->tls.certificate);
    g_free((char *)security->tls.key);
    g_free((char *)security->tls.clients);
    g_free((char *)security->tls.crl);
    g_free((char *)security->tokens);
    g_free((char *)security->keytab);
    g_strfreev((char **)security->principals);
    for (guint i = 0; i < ACCESS_ROLES; i++) g_strfreev((char **)security->rules.lists[i]);
}

/* Quotas, masking, the audit log. */
static void read_protection(const Config *config, Settings *s) {
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        s->quota.lists[kind] = (const char *const *)g_strdupv((char **)config_list(config, quota_keys[kind]));
    s->mask_rules = g_strdupv((char **)config_list(config, "mask.rules"));
    s->mask_key = g_strdup(config_string(config, "mask.key"));
    s->names_mode = (NamesMode)config_enum(config, "access.names");
    s->audit_level = (AuditLevel)config_enum(config, "audit.log");
    s->audit_path = g_strdup(config_string(config, "audit.path"));
}

static KafkaSettings kafka_of(const Config *config) {
    return (KafkaSettings){
        .brokers = g_strdup(config_string(config, "kafka.brokers")),
        .topic = g_strdup(config_string(config, "kafka.topic")),
        .group = g_strdup(config_string(config, "kafka.group")),
        .options = g_strdupv((char **)config_list(config, "kafka.options")),
        .secrets = g_strdup(config_string(config, "kafka.secrets")),
    };
}

static ShellSettings shell_of(const Config *config) {
    return (ShellSettings){
        .mode = (ShellMode)config_enum(config, "shell.enabled"),
        .program = g_strdup(config_string(config, "shell.program")),
        .at_once = (guint)config_int(config, "shell.at-once"),
        .per_peer = (guint)config_int(config, "shell.per-peer"),
        .limits = {.time_ns = config_duration_ns(config, "shell.time-limit"),
                   .output_bytes = config_size_bytes(config, "shell.output-limit"),
                   .memory_bytes = config_size_bytes(config, "shell.memory")},
    };
}

Settings *settings_new(const Config *config, GError **error) {
    g_autoptr(Settings) s = g_new0(Settings, 1);
    guint processors = (guint)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);

    s->listen_thrift = g_strdup(config_string(config, "listen.thrift"));
    s->listen_http = g_strdup(config_string(config, "listen.http"));
    s->listen_hrpc = g_strdup(config_string(config, "listen.hrpc"));
    s->insecure = config_bool(config, "listen.insecure");
    s->security = security_of(config);
    read_protection(config, s);
    s->per_address = (guint)config_int(config, "listen.per-address");
    s->max_connections = (guint)config_int(config, "listen.max-connections");
    s->frame_bytes = config_size_bytes(config, "listen.frame-limit");
    s->buffer_bytes = buffer_bytes(config);
    s->frame_timeout_ns = config_duration_ns(config, "listen.frame-timeout");
    s->idle_timeout_ns = config_duration_ns(config, "listen.idle-timeout");
    s->net_threads = threads_or(config_int(config, "receiver.net-threads"), processors / 4);
    s->shards = threads_or(config_int(config, "receiver.shards"), processors);
    s->queue_bytes = config_size_bytes(config, "receiver.queue-limit");
    s->kafka = kafka_of(config);
    s->http_hosts = g_strdupv((char **)config_list(config, "http.hosts"));
    s->http_connections = (guint)config_int(config, "http.max-connections");
    s->http_timeout_ns = config_duration_ns(config, "http.timeout");
    s->query_threads = (guint)config_int(config, "http.query-threads");
    s->query_queue = (guint)config_int(config, "http.queue");
    s->question_timeout_ns = config_duration_ns(config, "http.question-timeout");
    s->question_bytes = question_bytes(config);
    s->shell = shell_of(config);

    s->traces = (OpenLimits){
        .idle_ns = config_duration_ns(config, "trace.idle"),
        .max_age_ns = config_duration_ns(config, "trace.max-age"),
        .max_spans = (guint32)config_int(config, "trace.max-spans"),
        .max_bytes = trace_bytes(config) / TRACE_BYTES_TIGHT,
        .memory_bytes = config_size_bytes(config, "memory.limit"),
        .disk_bytes = config_size_bytes(config, "journal.limit"), /* it has the same spans, in more bytes */
    };
    s->trace_bytes = trace_bytes(config);
    s->clock_tolerance_ns = config_duration_ns(config, "trace.clock-tolerance");

    s->store_path = g_strdup(config_string(config, "store.path"));
    s->journal_path = g_strdup(config_string(config, "journal.path"));
    s->store_cache_bytes = config_size_bytes(config, "store.cache");
    s->store_buffer_bytes = config_size_bytes(config, "store.write-buffer");
    s->min_free_bytes = config_size_bytes(config, "store.min-free");
    s->ids_for_ns = config_duration_ns(config, "store.ids-for");
    if (!kept_columns_parse(config_list(config, "store.keep"), &s->keep, error)) {
        g_prefix_error(error, "store.keep: ");
        return NULL;
    }

    s->ack = (AckMode)config_enum(config, "journal.ack");
    s->journal_segment_bytes = config_size_bytes(config, "journal.segment");
    s->journal_limit_bytes = config_size_bytes(config, "journal.limit");
    s->names = (NameLimits){(guint)config_int(config, "naming.per-peer"), (guint)config_int(config, "naming.limit")};
    s->name_rules = g_strdupv((char **)config_list(config, "naming.rules"));
    s->sampling = g_strstrip(g_strdup(config_string(config, "senders.sampling")));
    s->sampling_auto = strcmp(s->sampling, ADVICE_AUTO) == 0;
    s->sampling_spans_per_s = (guint64)config_int(config, "senders.rate");
    if (s->sampling_auto) {
        g_free(s->sampling);
        s->sampling = g_strdup(ADVICE_FIRST);
    }
    s->retention = retention_limits(config);
    s->log_level = (LogLevel)config_enum(config, "log.level");
    s->stop_timeout_ns = config_duration_ns(config, "stop.timeout");
    if (!check(s, error)) return NULL;
    return g_steal_pointer(&s);
}

void settings_free(Settings *settings) {
    if (!settings) return;
    g_free(settings->listen_thrift);
    g_free(settings->listen_http);
    g_free(settings->listen_hrpc);
    security_settings_clear(&settings->security);
    for (guint kind = 0; kind < QUOTA_KINDS; kind++) g_strfreev((char **)settings->quota.lists[kind]);
    g_strfreev(settings->mask_rules);
    g_free(settings->mask_key);
    g_free(settings->audit_path);
    kafka_settings_clear(&settings->kafka);
    g_strfreev(settings->http_hosts);
    g_free((char *)settings->shell.program);
    g_free(settings->store_path);
    g_free(settings->journal_path);
    g_strfreev(settings->name_rules);
    kept_columns_clear(&settings->keep);
    g_free(settings->sampling);
    g_free(settings);
}
