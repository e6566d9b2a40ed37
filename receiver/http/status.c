#include "receiver/http/status.h"

#include "receiver/state/status_accounts.h"

static json_t *group_of(const State *state, CounterGroup group) {
    json_t *object = json_object();
    for (int i = 0; i < COUNTER_COUNT; i++) {
        CounterInfo info = counter_info((Counter)i);
        if (info.group == group && info.reason[0] != '\0' && state->counters[i] > 0)
            json_object_set_new(object, info.reason, json_integer((json_int_t)state->counters[i]));
    }
    return object;
}

/* More are not shown here, so that this answer stays small: GET /api/v1/senders has them all. */
static void append_sender(void *arg, const SenderInfo *info) {
    if (info->name[0] == '\0' || json_array_size(arg) >= STATUS_SENDERS_SHOWN) return;
    json_t *drops = json_object();
    for (guint32 i = 0; i < info->n_drops; i++)
        json_object_set_new(drops, info->drops[i].reason, json_integer(info->drops[i].spans));
    json_array_append_new(arg, json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "sender", info->name, "spans_sent",
                                         (json_int_t)info->spans_sent, "spans_queued", (json_int_t)info->spans_queued,
                                         "last_seen_time_ns", (json_int_t)info->last_seen_ns, "repeated_batches",
                                         (json_int_t)info->repeated, "drops", drops));
}

json_t *status_senders(Senders *senders) {
    json_t *rows = json_array();
    senders_foreach(senders, append_sender, rows);
    return rows;
}

static void set_integer(json_t *object, const char *name, guint64 value) {
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static json_t *space_of(const SpaceView *space) {
    json_t *object = json_object();
    json_object_set_new(object, "level", json_string(space_level_name((SpaceLevel)atomic_load(&space->level))));
    set_integer(object, "free_bytes", atomic_load(&space->free_bytes));
    guint keep = atomic_load(&space->keep);
    if (keep > 0) set_integer(object, "thinned_to_traces", keep);
    return object;
}

/* Of Spark, since the start: received is the sum of the others but refused. */
static json_t *records_of(const State *state) {
    json_t *object = json_object();
    set_integer(object, "received", state->counters[COUNTER_RECORDS]);
    set_integer(object, "stored", state->counters[COUNTER_RECORDS_STORED]);
    set_integer(object, "unchanged", state->counters[COUNTER_RECORDS_UNCHANGED]);
    set_integer(object, "waiting", state->records_waiting);
    set_integer(object, "failed", state->counters[COUNTER_RECORDS_FAILED]);
    set_integer(object, "refused", state->counters[COUNTER_RECORDS_REFUSED]);
    return object;
}

static json_t *names_of_state(const NameQuotaState *names) {
    json_t *object = json_object();
    set_integer(object, "entries", names->entries);
    set_integer(object, "limit", names->limit);
    json_object_set_new(object, "full", json_real(names->full));
    set_integer(object, "folded", names->folded);
    set_integer(object, "refused", names->refused);
    return object;
}

static json_t *ports_of(const PortInfo *ports) {
    json_t *rows = json_array();
    for (guint i = 0; i < PORTS; i++) {
        if (ports[i].address == NULL) continue;
        json_t *logins = json_array();
        if (ports[i].certificates) json_array_append_new(logins, json_string("certificate"));
        if (ports[i].tokens) json_array_append_new(logins, json_string("token"));
        if (ports[i].kerberos) json_array_append_new(logins, json_string("kerberos"));
        json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:b, s:o, s:b}", "port", ports[i].name, "address",
                                              ports[i].address, "loopback", ports[i].loopback, "tls", ports[i].tls,
                                              "logins", logins, "insecure", ports[i].insecure));
    }
    return rows;
}

static void append_refusals(void *arg, const QuotaRefusals *refusals) {
    json_t *counts = json_object();
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        if (refusals->refused[kind] > 0) set_integer(counts, quota_keys[kind], refusals->refused[kind]);
    json_array_append_new(arg, json_pack("{s:s, s:o}", "who", refusals->name, "refused", counts));
}

static json_t *quotas_of(Quotas *quotas) {
    json_t *rows = json_array();
    quotas_foreach_refused(quotas, append_refusals, rows);
    return rows;
}

static json_t *kafka_of(const StateSources *sources, const State *state) {
    const KafkaView *view = sources->kafka;
    json_t *object = json_object();
    json_object_set_new(object, "topic", json_string(sources->kafka_topic));
    json_object_set_new(object, "state", json_string(kafka_state_name((KafkaState)atomic_load(&view->state))));
    set_integer(object, "partitions", atomic_load(&view->partitions));
    set_integer(object, "lag_messages", atomic_load(&view->lag));
    set_integer(object, "messages", state->counters[COUNTER_KAFKA_MESSAGES]);
    set_integer(object, "refused_messages", state->counters[COUNTER_KAFKA_REFUSED]);
    set_integer(object, "errors", state->counters[COUNTER_KAFKA_ERRORS]);
    return object;
}

json_t *status_receiver(const StateSources *sources) {
    State state;
    state_collect(&state, sources);

    json_t *object = json_object();
    set_integer(object, "uptime_ns", (guint64)state.uptime_ns);
    json_object_set_new(object, "ready", json_boolean(state.ready));
    if (state.reason) json_object_set_new(object, "reason", json_string(state.reason));
    if (state.recovered < 1) json_object_set_new(object, "recovering", json_real(state.recovered));
    json_object_set_new(object, "ports", ports_of(sources->ports));
    json_object_set_new(object, "names", names_of_state(&state.names));

    set_integer(object, "connections", state.connections);
    set_integer(object, "spans_received", state.counters[COUNTER_SPANS]);
    json_object_set_new(object, "spans_per_s", json_real(state.spans_per_s));
    set_integer(object, "batches", state.counters[COUNTER_BATCHES]);
    set_integer(object, "bytes_received", state.counters[COUNTER_BYTES_RECEIVED]);
    set_integer(object, "try_later", state.counters[COUNTER_TRY_LATER]);
    set_integer(object, "foreign_names", state.counters[COUNTER_FOREIGN_NAMES]);
    set_integer(object, "open_traces", state.open_traces);
    set_integer(object, "open_spans", state.open_spans);
    set_integer(object, "open_bytes", state.open_bytes);
    set_integer(object, "open_spilled_spans", state.spilled_spans);
    set_integer(object, "open_spilled_bytes", state.spilled_bytes);
    set_integer(object, "queued_bytes", state.queued_bytes);
    set_integer(object, "journal_bytes", state.journal_bytes);
    set_integer(object, "lag_ns", (guint64)state.lag_ns);
    set_integer(object, "closed_early", state_closed_early(&state));

    json_object_set_new(object, "closed_traces", group_of(&state, GROUP_TRACES));
    json_object_set_new(object, "refused", group_of(&state, GROUP_REFUSED));
    json_object_set_new(object, "rejected_frames", group_of(&state, GROUP_FRAMES));
    json_object_set_new(object, "refused_connections", group_of(&state, GROUP_CONNECTIONS));
    json_object_set_new(object, "rejected_http", group_of(&state, GROUP_HTTP));
    json_object_set_new(object, "over_quota", quotas_of(sources->quotas));
    set_integer(object, "recovered_spans", state.counters[COUNTER_RECOVERED_SPANS]);
    set_integer(object, "journal_damages", state.counters[COUNTER_DAMAGED_RECORDS]);
    set_integer(object, "spans_set_aside", state.counters[COUNTER_SPANS_SET_ASIDE]);
    set_integer(object, "judgements_refused", slow_hosts_refused(sources->slow_hosts));
    json_object_set_new(object, "records", records_of(&state));
    if (atomic_load(&sources->kafka->state) != KAFKA_OFF)
        json_object_set_new(object, "kafka", kafka_of(sources, &state));
    set_integer(object, "cpu_ns", (guint64)state.cpu_ns);
    set_integer(object, "rss_bytes", state.rss_bytes);
    json_object_set_new(object, "sampling", json_string(state.sampling));
    json_object_set_new(object, "space", space_of(sources->space));
    json_object_set_new(object, "accounting", accounts_status(sources));
    json_object_set_new(object, "senders", status_senders(sources->senders));

    state_clear(&state);
    return object;
}
