#include "receiver/daemon.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/archive/consolidation/rollup.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/base/periodic_thread.h"
#include "common/base/secret_file.h"
#include "receiver/background/consolidation.h"
#include "receiver/background/resource_control.h"
#include "receiver/http/http.h"
#include "receiver/kafka/kafka.h"
#include "receiver/net/listener.h"
#include "receiver/secure/port.h"
#include "receiver/shared/files.h"
#include "receiver/watchdog.h"

/* Table files that the store keeps open, if it may. */
#define STORE_FILES 1000u

/* Memory beside open traces, under load: the program, patterns and dictionary; a group and what closing a trace takes,
 * for each shard; and write buffers, of which there are some that are being written out. */
#define OTHERS_BYTES       (32u * 1024 * 1024)
#define OTHERS_SHARD_BYTES (24u * 1024 * 1024)
#define OTHERS_BUFFERS     4u

/* Readers in their handshake, where few may connect: a browser opens several connections at once. */
#define READERS_GREETED_LEAST 16u

/* How often is looked whether certificates have been replaced. */
#define RENEWAL_NS NS_PER_MINUTE

struct Daemon {
    const Settings *settings;
    int thrift_fd, http_fd, hrpc_fd; /* -1: handed on, or not bound */
    PortInfo ports[PORTS];
    Security *security;
    Audit *audit;
    NameOwners *owners;
    Quotas *quotas;
    Errands *errands;
    Mask *mask;              /* NULL: none */
    PeriodicThread *renewal; /* of what security has read from files */
    Store *store;
    Archive *archive;
    Journal *journal;
    Admission *admission;
    CounterSet *counters;
    Senders *senders;
    Accounts *accounts;
    SharedText sampling; /* of the settings */
    RecoveryView recovering;
    Recovery *recovery; /* NULL: there was nothing to recover */
    Rate *rate;
    NamingRules *rules;
    Shard **shards;
    guint n_shards;
    Recorder *recorder;
    AllowanceBudget questions;
    ControlView view;
    StateSources state;
    Http *http;
    ResourceControl *control;
    Consolidation *consolidation;
    SlowHosts *slow_hosts;
    Tally *tally;
    Straggling straggling;
    Retention *retention;
    Watchdog *watchdog; /* NULL: nobody asks for it */
    SpaceView space;
    Net *_Atomic net;  /* NULL until spans are taken */
    Net *_Atomic hrpc; /* the same, where it is on */
    KafkaView kafka_view;
    KafkaInput *kafka; /* NULL: nothing is read from Kafka */
    FilePlan files;
    Shares *shares;
    NameQuota *quota;
};

/* ---- opening ---- */

/* Who may have how many descriptors; before the first is needed. */
static gboolean plan_files(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;
    const guint net_threads = s->net_threads + (s->listen_hrpc[0] != '\0'); /* HRPC has one */
    const FilePlan wanted = {s->max_connections, s->http_connections, STORE_FILES, net_threads};
    if (!files_plan(&wanted, &daemon->files, error)) return FALSE;
    const ShareLimits limits = {{[PEER_SENDERS] = daemon->files.senders, [PEER_READERS] = daemon->files.readers},
                                s->per_address,
                                s->buffer_bytes};
    daemon->shares = shares_new(&limits);
    return TRUE;
}

static gboolean open_port(Daemon *daemon, PortInfo *port, const char *address, int *fd, GError **error) {
    if (!listener_bind(address, port->key, fd, &port->address, error)) return FALSE;
    const TlsFiles *tls = &daemon->settings->security.tls;
    port->loopback = port_is_loopback(*fd);
    port->tls = !port->bare && tls->certificate[0] != '\0';
    port->certificates = !port->bare && tls->clients[0] != '\0';
    port->tokens = port->tls && daemon->settings->security.tokens[0] != '\0';
    port->kerberos = !port->bare && daemon->settings->security.keytab[0] != '\0';
    port->insecure = !port->loopback && daemon->settings->insecure;
    if (!port_check(port, error)) return FALSE;
    g_autofree char *text = port_describe(port);
    log_message(port->insecure ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE, "%s: %s", port->name, text);
    return TRUE;
}

static gboolean open_hrpc(Daemon *daemon, GError **error) {
    PortInfo *port = &daemon->ports[PORT_HRPC];
    const char *address = daemon->settings->listen_hrpc;
    *port = (PortInfo){.name = "hrpc", .key = "listen.hrpc", .bare = TRUE};
    return address[0] == '\0' || open_port(daemon, port, address, &daemon->hrpc_fd, error);
}

static gboolean open_ports(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;
    PortInfo *thrift = &daemon->ports[PORT_THRIFT], *http = &daemon->ports[PORT_HTTP];
    *thrift = (PortInfo){.name = "thrift", .key = "listen.thrift"};
    *http = (PortInfo){.name = "http", .key = "listen.http"};
    return open_port(daemon, thrift, s->listen_thrift, &daemon->thrift_fd, error) &&
           open_port(daemon, http, s->listen_http, &daemon->http_fd, error) && open_hrpc(daemon, error) &&
           listener_listen(daemon->http_fd, http->address, http->key, error);
}

static void count_stored(void *arg, const StoredCalls *calls) {
    tally_add(arg, calls, clock_monotonic_ns(clock_system()));
}

static gboolean open_store(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;

    StoreOptions store = {.path = s->store_path,
                          .merge = archive_merge,
                          .no_log = s->ack != ACK_MEMORY, /* the journal has it until it is on disk */
                          .write_buffer_bytes = s->store_buffer_bytes,
                          .cache_bytes = s->store_cache_bytes,
                          .open_files = daemon->files.store};
    daemon->store = store_open_rocksdb(&store, error);
    if (!daemon->store) return FALSE;

    daemon->tally = tally_new();
    ArchiveOptions archive = {.clock_tolerance_ns = s->clock_tolerance_ns,
                              .max_trace_spans = s->traces.max_spans,
                              .max_trace_bytes = s->trace_bytes,
                              .keep = s->keep,
                              .stored = {count_stored, daemon->tally}};
    daemon->archive = archive_open(daemon->store, &archive, error);
    if (!daemon->archive) return FALSE;

    if (dict_in_memory(archive_dict(daemon->archive)))
        log_message(
            LOG_LEVEL_NOTICE,
            "the dictionary of names and tracer ids is held in memory, since there is no room in store.path, or "
            "its file system (btrfs, ZFS, an overlay, ...) does not keep room for files: %u entries at most",
            LIMIT_DICTIONARY_MEMORY_ENTRIES);
    return TRUE;
}

static gboolean open_files(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;
    JournalOptions journal = {s->journal_path, s->journal_segment_bytes, s->ack == ACK_FSYNC};
    daemon->journal = journal_open(&journal, error);
    if (!daemon->journal) return FALSE;
    if (open_store(daemon, error)) return TRUE;
    journal_discard(g_steal_pointer(&daemon->journal));
    return FALSE;
}

static gboolean open_mask(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;
    if (s->mask_key[0] == '\0') return TRUE;
    gsize size_bytes;
    char *key = secret_file_read(s->mask_key, &size_bytes, error);
    if (key == NULL) {
        g_prefix_error(error, "mask.key: ");
        return FALSE;
    }
    gsize key_bytes = size_bytes;
    while (key_bytes > 0 && g_ascii_isspace(key[key_bytes - 1])) key_bytes--;
    daemon->mask = mask_new((const char *const *)s->mask_rules, key, key_bytes, error);
    secret_free(key, size_bytes);
    return daemon->mask != NULL;
}

static gboolean open_audit(Daemon *daemon, GError **error) {
    const Settings *s = daemon->settings;
    daemon->quotas = quotas_new(&s->quota);
    daemon->audit = audit_new(s->audit_path, s->audit_level, error);
    if (daemon->audit == NULL) return FALSE;
    daemon->owners = name_owners_new(s->names_mode, daemon->audit);
    return TRUE;
}

/* Each shard's, of the disk as well; of the memory, a quarter, until resource control has seen how much is left for
 * open traces. */
static OpenLimits share_of(const Settings *settings) {
    OpenLimits limits = settings->traces;
    limits.memory_bytes /= 4 * settings->shards;
    limits.disk_bytes /= settings->shards;
    return limits;
}

static void start_shards(Daemon *daemon) {
    const Settings *s = daemon->settings;
    daemon->shards = g_new0(Shard *, s->shards);
    for (daemon->n_shards = 0; daemon->n_shards < s->shards; daemon->n_shards++) {
        ShardOptions options = {
            .number = daemon->n_shards,
            .archive = daemon->archive,
            .admission = daemon->admission,
            .counters = daemon->counters,
            .accounts = daemon->accounts,
            .replayed = journal_usage(daemon->journal).newest,
            .mailbox_bytes = s->queue_bytes,
            .limits = share_of(s),
            .unstored_dir = s->journal_path,
            .spill_dir = s->ack == ACK_MEMORY ? s->store_path : s->journal_path,
        };
        daemon->shards[daemon->n_shards] = shard_start(&options);
    }
}

static void start_recorder(Daemon *daemon) {
    const RecorderOptions options = {daemon->archive, daemon->admission, daemon->counters,
                                     daemon->settings->queue_bytes};
    daemon->recorder = recorder_start(&options);
}

static ResourceControlLimits resource_control_limits(const Settings *settings) {
    return (ResourceControlLimits){
        .min_free_bytes = settings->min_free_bytes,
        .thin_free_bytes = settings->retention.thresholds.thin_bytes,
        .journal_limit_bytes = settings->journal_limit_bytes,
        .idle_ns = settings->traces.idle_ns,
        .max_age_ns = settings->traces.max_age_ns,
        .memory_bytes = settings->traces.memory_bytes,
        .sampling = settings->sampling,
        .sampling_auto = settings->sampling_auto,
        .sampling_spans_per_s = settings->sampling_spans_per_s,
    };
}

static void ask_for_restart(void) { kill(getpid(), DAEMON_RESTART_SIGNAL); }

static void set_state_sources(Daemon *daemon) {
    daemon->state = (StateSources){
        .archive = daemon->archive,
        .admission = daemon->admission,
        .counters = daemon->counters,
        .senders = daemon->senders,
        .shares = daemon->shares,
        .quota = daemon->quota,
        .accounts = daemon->accounts,
        .journal = daemon->journal,
        .rate = daemon->rate,
        .view = &daemon->view,
        .sampling = &daemon->sampling,
        .space = &daemon->space,
        .slow_hosts = daemon->slow_hosts,
        .tally = daemon->tally,
        .straggling = &daemon->straggling,
        .recovery = &daemon->recovering,
        .shards = daemon->shards,
        .n_shards = daemon->n_shards,
        .recorder = daemon->recorder,
        .questions = &daemon->questions,
        .net = &daemon->net,
        .hrpc = &daemon->hrpc,
        .kafka = &daemon->kafka_view,
        .kafka_topic = daemon->settings->kafka.topic,
        .ports = daemon->ports,
        .security = daemon->security,
        .audit = daemon->audit,
        .quotas = daemon->quotas,
        .started_ns = clock_monotonic_ns(clock_system()),
    };
}

static IntakeOptions intake_options(const Daemon *daemon) {
    AckMode ack = daemon->settings->ack;
    return (IntakeOptions){
        .rules = daemon->rules,
        .dict = archive_dict(daemon->archive),
        .shards = daemon->shards,
        .n_shards = daemon->n_shards,
        .recorder = daemon->recorder,
        .journal = ack == ACK_MEMORY ? NULL : daemon->journal,
        .sync = ack == ACK_FSYNC,
        .admission = daemon->admission,
        .senders = daemon->senders,
        .accounts = daemon->accounts,
        .owners = daemon->owners,
        .mask = daemon->mask,
        .sampling = &daemon->sampling,
    };
}

/* Do strangers reach the port, who may read there without a login? */
static gboolean http_is_unguarded(const Daemon *daemon) {
    const PortInfo *port = &daemon->ports[PORT_HTTP];
    if (port->insecure || port->loopback) return port->insecure;
    return access_suffices(security_roles(daemon->security, NULL, 0, port_is_open(port)), ACCESS_READ);
}

static void start_http(Daemon *daemon) {
    const Settings *s = daemon->settings;
    HttpOptions http = {
        .listen_fd = daemon->http_fd,
        .query_threads = s->query_threads,
        .queue = s->query_queue,
        .question_timeout_ns = s->question_timeout_ns,
        .timeout_ns = s->http_timeout_ns,
        .listen = s->listen_http,
        .hosts = (const char *const *)s->http_hosts,
        .backend = {.archive = daemon->archive,
                    .shards = daemon->shards,
                    .n_shards = daemon->n_shards,
                    .recorder = daemon->recorder,
                    .admission = daemon->admission,
                    .recovery = &daemon->recovering,
                    .questions = &daemon->questions},
        .state = &daemon->state,
        .shares = daemon->shares,
        .security = daemon->security,
        .audit = daemon->audit,
        .quotas = daemon->quotas,
        .errands = daemon->errands,
        .open = port_is_open(&daemon->ports[PORT_HTTP]),
        .secret = daemon->ports[PORT_HTTP].tls,
        .counters = counter_set_add(daemon->counters),
        .accept_counters = counter_set_add(daemon->counters),
        .strangers = MAX(daemon->files.readers / ACCEPTOR_STRANGERS_SHARE, READERS_GREETED_LEAST),
        .intake = intake_options(daemon),
        .posts_counters = counter_set_add(daemon->counters),
        .quota = daemon->quota,
        .shell = &s->shell,
        .unguarded = http_is_unguarded(daemon),
    };
    daemon->http = http_start(&http);
    daemon->http_fd = -1;
}

static JournalUsers journal_users(const Daemon *daemon) {
    return (JournalUsers){daemon->journal, daemon->archive, daemon->shards, daemon->n_shards, daemon->recorder};
}

static void start_resource_control(Daemon *daemon) {
    const Settings *s = daemon->settings;
    ResourceControlOptions control = {
        .users = journal_users(daemon),
        .admission = daemon->admission,
        .counters = daemon->counters,
        .quota = daemon->quota,
        .space = &daemon->space,
        .rate = daemon->rate,
        .view = &daemon->view,
        .store_path = s->store_path,
        .journal_path = s->journal_path,
        .uses_journal = s->ack != ACK_MEMORY,
        .segment_bytes = s->journal_segment_bytes,
        .sampling = &daemon->sampling,
        .queue_bytes = s->queue_bytes * s->shards,
        .store_needs_bytes = OTHERS_BUFFERS * s->store_buffer_bytes,
        .restart = ask_for_restart,
        .others_bytes = OTHERS_BYTES + s->shards * OTHERS_SHARD_BYTES + s->store_cache_bytes +
                        OTHERS_BUFFERS * s->store_buffer_bytes + (s->kafka.brokers[0] != '\0' ? KAFKA_MEMORY_BYTES : 0),
    };
    ResourceControlLimits limits = resource_control_limits(s);
    daemon->control = resource_control_start(&control, &limits);
}

static void tell_audit(const Daemon *daemon, AuditAction action, const char *outcome) {
    const AuditEvent event = {.action = action, .outcome = outcome};
    audit_note(daemon->audit, &event);
}

/* What was in force stays where a file is bad. settings: NULL for those in force. */
static void renew_security(Daemon *daemon, const SecuritySettings *settings) {
    g_autoptr(GError) error = NULL;
    const gboolean good = security_reload(daemon->security, settings, &error);
    if (good)
        log_message(LOG_LEVEL_INFO, "certificates and rules about roles were read again");
    else
        log_message(LOG_LEVEL_ERROR, "%s; TLS and the rules about roles stay as they were", error->message);
    tell_audit(daemon, AUDIT_RELOAD, good ? "ok" : error->message);
}

static gint64 renew_outdated(void *arg) {
    Daemon *daemon = arg;
    if (security_is_outdated(daemon->security)) renew_security(daemon, NULL);
    return RENEWAL_NS;
}

static void start_service(Daemon *daemon) {
    const Settings *s = daemon->settings;
    daemon->slow_hosts = slow_hosts_new();
    pthread_mutex_init(&daemon->straggling.lock, NULL);
    set_state_sources(daemon);
    atomic_store(&daemon->questions.limit_bytes, s->question_bytes);
    daemon->errands = errands_start();
    start_http(daemon);
    start_resource_control(daemon);

    const ConsolidationOptions consolidation = {daemon->archive,    daemon->journal,    daemon->admission,
                                                &daemon->space,     daemon->slow_hosts, &daemon->straggling,
                                                &daemon->questions, s->ids_for_ns};
    daemon->consolidation = consolidation_start(&consolidation);
    const PeriodicWork renewal = {"security", RENEWAL_NS, renew_outdated, daemon};
    daemon->renewal = periodic_thread_start(&renewal);
    const RetentionOptions retention = {daemon->archive, &daemon->recovering, s->store_path, &daemon->space};
    daemon->retention = retention_start(&retention, &s->retention);
}

Daemon *daemon_open(const Settings *settings, GError **error) {
    g_autoptr(Daemon) daemon = g_new0(Daemon, 1);
    daemon->settings = settings;
    atomic_init(&daemon->sampling, settings->sampling);
    daemon->thrift_fd = daemon->http_fd = daemon->hrpc_fd = -1;

    daemon->rules = naming_rules_new((const char *const *)settings->name_rules, error);
    daemon->security = security_new(&settings->security, error);
    if (!daemon->security || !daemon->rules || !plan_files(daemon, error) || !open_mask(daemon, error) ||
        !open_audit(daemon, error) || !open_ports(daemon, error) || !open_files(daemon, error))
        return NULL;

    daemon->admission = admission_new();
    daemon->counters = counter_set_new();
    daemon->senders = senders_new();
    daemon->accounts = accounts_new(daemon->archive);
    daemon->rate = rate_new();
    daemon->quota = name_quota_new(archive_dict(daemon->archive), &settings->names);
    recovery_view_init(&daemon->recovering, daemon->journal);
    admission_set(daemon->admission, ADMISSION_STARTING, "starting");

    start_shards(daemon);
    start_recorder(daemon);
    start_service(daemon);
    return g_steal_pointer(&daemon);
}

/* ---- running ---- */

static void start_recovery(Daemon *daemon) {
    RecoveryOptions options = {
        .journal = daemon->journal,
        .intake = intake_options(daemon),
        .limit = name_quota_of(daemon->quota, "the journal"),
        .counters = counter_set_add(daemon->counters),
        .view = &daemon->recovering,
    };
    daemon->recovery = recovery_start(&options);
}

static gboolean start_kafka(Daemon *daemon, GError **error) {
    const KafkaOptions options = {
        .settings = &daemon->settings->kafka,
        .intake = intake_options(daemon),
        .counters = counter_set_add(daemon->counters),
        .limit = name_quota_of(daemon->quota, "kafka"),
        .view = &daemon->kafka_view,
    };
    if (options.settings->brokers[0] == '\0') return TRUE;
    daemon->kafka = kafka_start(&options, error);
    return daemon->kafka != NULL;
}

static NetOptions net_options(const Daemon *daemon) {
    const Settings *s = daemon->settings;
    return (NetOptions){
        .protocol = &net_thrift,
        .listen_fd = daemon->thrift_fd,
        .n_threads = s->net_threads,
        .limits = {.frame_bytes = s->frame_bytes,
                   .frame_timeout_ns = s->frame_timeout_ns,
                   .idle_timeout_ns = s->idle_timeout_ns,
                   .login_timeout_ns = ACCEPTOR_LOGIN_NS,
                   .strangers = MAX(daemon->files.senders / ACCEPTOR_STRANGERS_SHARE, 1)},
        .intake = intake_options(daemon),
        .counters = daemon->counters,
        .quota = daemon->quota,
        .security = daemon->security,
        .audit = daemon->audit,
        .quotas = daemon->quotas,
        .errands = daemon->errands,
        .open = port_is_open(&daemon->ports[PORT_THRIFT]),
        .shares = daemon->shares,
    };
}

static void start_hrpc(Daemon *daemon) {
    if (daemon_hrpc(daemon) == NULL) return;
    NetOptions options = net_options(daemon);
    options.protocol = &net_hrpc;
    options.listen_fd = daemon->hrpc_fd;
    options.n_threads = 1;
    options.open = port_is_open(&daemon->ports[PORT_HRPC]);
    daemon->hrpc = net_start(&options);
    daemon->hrpc_fd = -1;
}

gboolean daemon_start(Daemon *daemon, GError **error) {
    if (!listener_listen(daemon->thrift_fd, daemon_thrift(daemon), "listen.thrift", error)) return FALSE;
    if (daemon_hrpc(daemon) && !listener_listen(daemon->hrpc_fd, daemon_hrpc(daemon), "listen.hrpc", error))
        return FALSE;
    if (!start_kafka(daemon, error)) return FALSE; /* its messages wait until spans are taken */

    const NetOptions options = net_options(daemon);
    tell_audit(daemon, AUDIT_START, "ok");
    start_recovery(daemon);
    admission_set(daemon->admission, ADMISSION_STARTING, NULL);
    daemon->net = net_start(&options);
    daemon->thrift_fd = -1;
    start_hrpc(daemon);

    const WatchdogOptions watchdog = {daemon->shards, daemon->n_shards, daemon->net,
                                      daemon->hrpc,   daemon->http,     daemon->control};
    daemon->watchdog = watchdog_start(&watchdog);
    return TRUE;
}

const char *daemon_thrift(const Daemon *daemon) { return daemon->ports[PORT_THRIFT].address; }
const char *daemon_http(const Daemon *daemon) { return daemon->ports[PORT_HTTP].address; }
const char *daemon_hrpc(const Daemon *daemon) { return daemon->ports[PORT_HRPC].address; }

void daemon_refuse_reload(Daemon *daemon, const char *why) {
    audit_reopen(daemon->audit);
    tell_audit(daemon, AUDIT_RELOAD, why);
}

void daemon_reload(Daemon *daemon, const Settings *settings) {
    daemon->settings = settings;
    audit_reopen(daemon->audit);
    audit_set_level(daemon->audit, settings->audit_level);
    quotas_set_rules(daemon->quotas, &settings->quota);
    name_owners_set_mode(daemon->owners, settings->names_mode);
    renew_security(daemon, &settings->security);
    security_judge_again(daemon->security); /* by the quotas, also where certificates stay as they were */
    if (!settings->sampling_auto) atomic_store(&daemon->sampling, settings->sampling);
    log_set_level(settings->log_level);
    atomic_store(&daemon->questions.limit_bytes, settings->question_bytes);
    OpenLimits limits = share_of(settings);
    for (guint i = 0; i < daemon->n_shards; i++) shard_set_limits(daemon->shards[i], &limits);
    ResourceControlLimits control = resource_control_limits(settings);
    retention_set_limits(daemon->retention, &settings->retention);
    resource_control_set_limits(daemon->control, &control);
}

/* ---- the end ---- */

/* The journal can go only when the store needs it no more. */
static gboolean make_safe(Store *store, gint64 until_ns, GError **error) {
    for (;;) {
        g_autoptr(GError) problem = NULL;
        if (store_sync(store, &problem)) return TRUE;
        if (clock_monotonic_ns(clock_system()) >= until_ns) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return FALSE;
        }
        nanosleep(&(struct timespec){.tv_nsec = SHARD_RETRY_MIN_NS}, NULL);
    }
}

/* What the next start has to do because there was no time for it. */
static void log_left(const Daemon *daemon) {
    guint64 traces = 0, spans = 0;
    for (guint i = 0; i < daemon->n_shards; i++) {
        ShardState shard = shard_state(daemon->shards[i]);
        traces += shard.traces;
        spans += shard.spans;
    }
    const JournalUsage left = journal_usage(daemon->journal);
    if (spans == 0 && left.unread_bytes == 0) return;
    log_message(LOG_LEVEL_NOTICE,
                "not all is stored: %" G_GUINT64_FORMAT " open traces with %" G_GUINT64_FORMAT
                " spans, and %.1f MB of the journal that were not recovered yet; the journal (%u files, %.1f MB) has "
                "them for the next start",
                traces, spans, (double)left.unread_bytes / 1e6, left.segments, (double)left.bytes / 1e6);
}

gboolean daemon_stop(Daemon *daemon, GError **error) {
    gint64 until_ns = clock_monotonic_ns(clock_system()) + daemon->settings->stop_timeout_ns;
    tell_audit(daemon, AUDIT_STOP, "ok");
    admission_set(daemon->admission, ADMISSION_STOPPING, "stopping: open traces are being stored");

    /* Without a journal, nobody else has them. */
    if (daemon->settings->ack != ACK_MEMORY) shards_stop_by(daemon->shards, daemon->n_shards, until_ns);
    g_clear_pointer(&daemon->watchdog, watchdog_stop);
    if (daemon->net) net_stop(daemon->net);
    if (daemon->hrpc) net_stop(daemon->hrpc);
    g_clear_pointer(&daemon->kafka, kafka_stop);
    http_stop_taking(daemon->http);
    g_clear_pointer(&daemon->recovery, recovery_stop);

    g_autoptr(GError) problem = NULL;
    archive_hurry(daemon->archive); /* who joins late spans holds retention up, too */
    g_clear_pointer(&daemon->retention, retention_stop);
    g_clear_pointer(&daemon->consolidation, consolidation_stop);
    g_clear_pointer(&daemon->control, resource_control_stop);
    http_leave_shards(daemon->http);
    gboolean recorded = recorder_stop(daemon->recorder, daemon->settings->stop_timeout_ns, &problem);
    gboolean good = shards_stop(daemon->shards, daemon->n_shards, MAX(until_ns - clock_monotonic_ns(clock_system()), 0),
                                recorded ? &problem : NULL) &&
                    recorded && make_safe(daemon->store, until_ns, &problem);
    const JournalUsers users = journal_users(daemon);
    resource_control_trim(&users);

    errands_stop(daemon->errands);
    /* Only now: a long question must not keep spans from the store. */
    g_clear_pointer(&daemon->http, http_stop);
    g_clear_pointer(&daemon->errands, errands_free);
    JournalUsage left = journal_usage(daemon->journal);
    g_autoptr(GError) not_joined = NULL;
    if (good && !consolidation_join_few(daemon->archive, &not_joined))
        log_message(LOG_LEVEL_WARNING, "statistics of late spans wait for the next start: %s", not_joined->message);
    if (good) log_left(daemon);

    if (good) return TRUE;
    if (daemon->settings->ack == ACK_MEMORY)
        return fail(error, PLUMB_ERROR_IO, "the store failed (%s): spans that were only in memory are lost",
                    problem->message);
    return fail(error, PLUMB_ERROR_IO,
                "the store failed (%s): what it lacks is in the journal (%u files, %.1f MB), the next start stores it",
                problem->message, left.segments, (double)left.bytes / 1e6);
}

void daemon_free(Daemon *daemon) {
    if (!daemon) return;

    periodic_thread_stop(daemon->renewal);
    retention_stop(daemon->retention);
    consolidation_stop(daemon->consolidation);
    resource_control_stop(daemon->control);
    errands_stop(daemon->errands);
    http_stop(daemon->http);
    errands_free(daemon->errands);
    kafka_stop(daemon->kafka);
    net_free(daemon->net);
    net_free(daemon->hrpc);
    for (guint i = 0; i < daemon->n_shards; i++) shard_free(daemon->shards[i]);
    g_free(daemon->shards);
    recorder_free(daemon->recorder);
    name_quota_free(daemon->quota);
    accounts_free(daemon->accounts);
    archive_free(daemon->archive);
    store_close(daemon->store);
    journal_close(daemon->journal);

    rate_free(daemon->rate);
    senders_free(daemon->senders);
    counter_set_free(daemon->counters);
    admission_free(daemon->admission);
    naming_rules_free(daemon->rules);

    if (daemon->thrift_fd >= 0) close(daemon->thrift_fd);
    if (daemon->http_fd >= 0) close(daemon->http_fd);
    if (daemon->hrpc_fd >= 0) close(daemon->hrpc_fd);
    slow_hosts_free(daemon->slow_hosts);
    tally_free(daemon->tally);
    shares_free(daemon->shares);
    name_owners_free(daemon->owners);
    audit_free(daemon->audit);
    quotas_free(daemon->quotas);
    mask_free(daemon->mask);
    security_free(daemon->security);
    for (guint i = 0; i < PORTS; i++) port_clear(&daemon->ports[i]);
    g_free(daemon);
}
