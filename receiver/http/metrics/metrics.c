#include "receiver/http/metrics/metrics.h"

#include <string.h>

#include "analyzer/archive/fill_known.h"
#include "common/base/clock.h"
#include "common/store/store_damage.h"
#include "receiver/background/memory.h"
#include "receiver/http/metrics/cluster_metrics.h"
#include "receiver/state/account_report.h"

static void write_gauge(Exposition *out, const char *name, const char *help, double value) {
    exposition_head(out, name, "gauge", help);
    g_string_append_printf(out->text, "plumbd_%s %.17g\n", name, value);
}

static void write_counters(Exposition *out, const State *state) {
    for (int i = 0; i < COUNTER_COUNT; i++) {
        CounterInfo info = counter_info((Counter)i);
        if (info.help) {
            g_autofree char *name = g_strconcat(info.metric, "_total", NULL);
            exposition_head(out, name, "counter", info.help);
        }
        if (!info.reason)
            g_string_append_printf(out->text, "plumbd_%s_total %" G_GUINT64_FORMAT "\n", info.metric,
                                   state->counters[i]);
        else if (info.reason[0] != '\0')
            g_string_append_printf(out->text, "plumbd_%s_total{reason=\"%s\"} %" G_GUINT64_FORMAT "\n", info.metric,
                                   info.reason, state->counters[i]);
    }
}

static void write_sender_drops(void *arg, const SenderInfo *info) {
    Exposition *out = arg;
    for (guint32 i = 0; i < info->n_drops; i++) {
        g_string_append(out->text, "plumbd_sender_dropped_spans{sender=\"");
        exposition_label(out, info->name);
        g_string_append(out->text, "\",reason=\"");
        exposition_label(out, info->drops[i].reason);
        g_string_append_printf(out->text, "\"} %" G_GINT64_FORMAT "\n", info->drops[i].spans);
    }
}

static void write_space(Exposition *out, const SpaceView *space) {
    const int level = atomic_load(&space->level);
    write_gauge(out, "free_bytes", "Free on the store's file system", (double)atomic_load(&space->free_bytes));
    write_gauge(out, "space_low", "1 when less than store.warn-free is free", level >= SPACE_LOW);
    write_gauge(out, "space_thinning", "1 when less than store.thin-free is free", level >= SPACE_THIN);
}

static void write_accounts(Exposition *out, const StateSources *sources) {
    AccountReport accounts = account_report_read(sources);
    const AccountSums *sums = &accounts.sums;
    const struct {
        const char *state;
        gint64 spans;
    } states[] = {{"received", sums->received}, {"stored", sums->stored},      {"open", sums->open},
                  {"waiting", sums->waiting},   {"repeated", sums->repeated},  {"thinned", sums->thinned},
                  {"expired", sums->expired},   {"set_aside", sums->set_aside}};
    exposition_head(out, "account_spans", "gauge", "What became of every span: received is the sum of the others");
    for (guint i = 0; i < G_N_ELEMENTS(states); i++)
        g_string_append_printf(out->text, "plumbd_account_spans{state=\"%s\"} %" G_GINT64_FORMAT "\n", states[i].state,
                               states[i].spans);
    write_gauge(out, "accounts_agree", "1 when the sums of the accounts agree", accounts.agree);
}

static void write_labelled(Exposition *out, const char *name, const char *label, const char *of, guint64 value) {
    g_string_append_printf(out->text, "plumbd_%s{%s=\"%s\"} %" G_GUINT64_FORMAT "\n", name, label, of, value);
}

static void write_questions(Exposition *out, const AllowanceBudget *questions) {
    write_gauge(out, "question_memory_limit_bytes", "Memory that questions may have together",
                (double)atomic_load(&questions->limit_bytes));
    exposition_head(out, "questions_refused_total", "counter", "Questions that were ended before they were answered");
    write_labelled(out, "questions_refused_total", "reason", "memory", atomic_load(&questions->refused_memory));
    write_labelled(out, "questions_refused_total", "reason", "time", atomic_load(&questions->refused_time));
    write_labelled(out, "questions_refused_total", "reason", "reader gone", atomic_load(&questions->gone));
}

static void write_memory(Exposition *out, const State *state, const StoreUsage *usage, gsize known_bytes) {
    exposition_head(out, "memory_bytes", "gauge",
                    "Memory by what it is for: open traces in use and held, groups that are "
                    "collected, queues, the filter of stored traces, the store (estimated), "
                    "questions; and all that is allocated beside the memory held for open traces");
    write_labelled(out, "memory_bytes", "part", "traces", state->arena_bytes);
    write_labelled(out, "memory_bytes", "part", "traces_held", state->arena_held_bytes);
    write_labelled(out, "memory_bytes", "part", "groups", state->open_bytes - state->arena_bytes);
    write_labelled(out, "memory_bytes", "part", "queues", state->queued_bytes + state->buffered_bytes);
    write_labelled(out, "memory_bytes", "part", "known_traces", known_bytes);
    write_labelled(out, "memory_bytes", "part", "store", usage->memory_bytes);
    write_labelled(out, "memory_bytes", "part", "allocated", memory_allocated_bytes());
}

typedef struct DamageSums {
    guint64 files[FAMILY_COUNT], lost_bytes[FAMILY_COUNT];
} DamageSums;

static void count_damage(void *arg, const StoreDamage *damage) {
    DamageSums *sums = arg;
    sums->files[damage->family] += damage->state != DAMAGE_MENDED;
    sums->lost_bytes[damage->family] += damage->lost_bytes;
}

static void write_damages(Exposition *out, Store *store) {
    DamageSums sums = {{0}, {0}};
    store_damages(store, count_damage, &sums);
    exposition_head(out, "store_unreadable_files", "gauge", "Files of the store of which something cannot be read");
    for (guint i = 0; i < FAMILY_COUNT; i++)
        write_labelled(out, "store_unreadable_files", "family", store_family_name((StoreFamily)i), sums.files[i]);
    exposition_head(out, "store_lost_bytes", "gauge", "What was lost of such files, until somebody removes *.damaged");
    for (guint i = 0; i < FAMILY_COUNT; i++)
        write_labelled(out, "store_lost_bytes", "family", store_family_name((StoreFamily)i), sums.lost_bytes[i]);
}

static void write_store(Exposition *out, const StoreUsage *usage) {
    exposition_head(out, "store_bytes", "gauge", "Size of the store's files by what they hold");
    for (guint i = 0; i < FAMILY_COUNT; i++)
        write_labelled(out, "store_bytes", "family", store_family_name((StoreFamily)i), usage->family_bytes[i]);
}

static void write_limits(Exposition *out, const ControlView *view) {
    write_gauge(out, "journal_limit_bytes", "What the journal may have: journal.limit, or less on a small disk",
                (double)atomic_load(&view->journal_limit_bytes));
    write_gauge(out, "trace_wait_seconds", "How long a trace with its root is waited for without a span",
                (double)atomic_load(&view->idle_ns) / 1e9);
    write_gauge(out, "large_trace_wait_seconds", "The same, of a trace of 1,000 spans or more",
                (double)atomic_load(&view->large_idle_ns) / 1e9);
}

/* Where nothing is read from Kafka there is no series of it. */
static void write_kafka(Exposition *out, const KafkaView *view) {
    const KafkaState state = (KafkaState)atomic_load(&view->state);
    if (state == KAFKA_OFF) return;
    write_gauge(out, "kafka_up", "1 when the topic of Kafka is read, or waits for plumbd to have time",
                state == KAFKA_READING || state == KAFKA_WAITING);
    write_gauge(out, "kafka_partitions", "Partitions of the topic that the group gave to this plumbd",
                atomic_load(&view->partitions));
    write_gauge(out, "kafka_lag_messages", "Messages of these that were not taken yet",
                (double)atomic_load(&view->lag));
}

static void write_certificate(Exposition *out, Security *security) {
    const gint64 ends_s = security_ends_s(security);
    if (ends_s == 0) return;
    write_gauge(out, "tls_expiry_seconds", "Until the certificate of tls.certificate ends",
                (double)(ends_s - clock_wall_ns(clock_system()) / NS_PER_SEC));
}

static void write_audit(Exposition *out, Audit *audit) {
    const AuditFigures figures = audit_figures(audit);
    exposition_head(out, "audit_lines_total", "counter",
                    "Lines of the audit log that were written, and that were lost");
    write_labelled(out, "audit_lines_total", "state", "written", figures.written);
    write_labelled(out, "audit_lines_total", "state", "lost", figures.lost);
}

static void write_security(Exposition *out, const StateSources *sources) {
    write_certificate(out, sources->security);
    write_audit(out, sources->audit);
}

static void write_names(Exposition *out, const NameQuotaState *names) {
    write_gauge(out, "names", "Function names, processes and annotation keys in the dictionary",
                (double)names->entries);
    write_gauge(out, "names_limit", "How many there may be", (double)names->limit);
    write_gauge(out, "names_full", "How full the dictionary is, 1 is full: of its entries or bytes, whichever is more",
                names->full);
    exposition_head(out, "names_folded_total", "counter",
                    "Names whose numbers were folded, or that became (other): once for each batch that had them");
    g_string_append_printf(out->text, "plumbd_names_folded_total %" G_GUINT64_FORMAT "\n", names->folded);
}

void metrics_write(const StateSources *sources, Exposition *out) {
    State state;
    state_collect(&state, sources);
    ArchiveTotals totals = archive_totals(sources->archive);

    write_gauge(out, "ready", "1 when spans are taken", state.ready);
    write_gauge(out, "recovery_share", "How much of the journal found at the start is recovered: 1 is all of it",
                state.recovered);
    write_gauge(out, "uptime_seconds", "Since the start", (double)state.uptime_ns / 1e9);
    write_counters(out, &state);
    write_security(out, sources);
    write_kafka(out, sources->kafka);
    write_names(out, &state.names);

    write_gauge(out, "connections", "Connections of senders", state.connections);
    write_gauge(out, "http_connections", "Connections over HTTP", state.readers);
    write_gauge(out, "peers", "Addresses that have connections, to either port", state.peers);
    write_gauge(out, "buffered_bytes", "Memory of unfinished frames", (double)state.buffered_bytes);
    write_gauge(out, "open_traces", "Traces not yet complete", (double)state.open_traces);
    write_gauge(out, "open_large_traces", "Of them, those of 1,000 spans or more that have their root",
                (double)state.open_large_traces);
    write_gauge(out, "open_spans", "Spans not yet stored", (double)state.open_spans);
    write_gauge(out, "open_bytes", "Memory of open traces", (double)state.open_bytes);
    write_gauge(out, "open_spilled_spans", "Of them, spans on the disk", (double)state.spilled_spans);
    write_gauge(out, "open_spilled_bytes", "Their bytes", (double)state.spilled_bytes);
    write_gauge(out, "open_spill_file_bytes", "Disk space taken for them", (double)state.spill_file_bytes);
    write_gauge(out, "queued_bytes", "Spans on their way to shards", (double)state.queued_bytes);
    write_gauge(out, "records_waiting", "Records of Spark taken and not in the store yet",
                (double)state.records_waiting);
    write_gauge(out, "lag_seconds", "Age of the oldest span not yet stored", (double)state.lag_ns / 1e9);
    write_gauge(out, "journal_bytes", "Size of the journal", (double)state.journal_bytes);
    write_gauge(out, "journal_segments", "Files of the journal", state.journal_segments);
    write_limits(out, sources->view);

    write_gauge(out, "stored_traces", "Traces in the store", (double)totals.traces);
    write_gauge(out, "stored_spans", "Spans in the store", (double)totals.spans);
    write_gauge(out, "stored_incomplete_traces", "Traces in the store that lack spans",
                (double)totals.incomplete_traces);
    write_gauge(out, "stored_patterns", "Patterns in the store", (double)totals.patterns);
    exposition_head(out, "duplicate_spans_total", "counter", "Spans that came again and changed nothing");
    g_string_append_printf(out->text, "plumbd_duplicate_spans_total %" G_GUINT64_FORMAT "\n", totals.duplicates);
    write_accounts(out, sources);
    exposition_head(out, "late_spans_total", "counter", "Spans that came after their trace was stored");
    g_string_append_printf(out->text, "plumbd_late_spans_total %" G_GUINT64_FORMAT "\n", totals.late_spans);
    write_gauge(out, "late_spans_waiting", "Late spans that are stored, but not with their traces yet",
                (double)totals.late_waiting);
    write_space(out, sources->space);
    write_gauge(out, "senders", "Senders heard of", state.senders);
    exposition_head(out, "sender_dropped_spans", "gauge", "Spans that a sender says it dropped");
    senders_foreach(sources->senders, write_sender_drops, out);

    cluster_metrics_write(sources, out);

    exposition_head(out, "cpu_seconds_total", "counter", "Processor time used");
    g_string_append_printf(out->text, "plumbd_cpu_seconds_total %.6f\n", (double)state.cpu_ns / 1e9);
    write_gauge(out, "resident_bytes", "Resident memory", (double)state.rss_bytes);
    const StoreUsage usage = store_usage(archive_store(sources->archive));
    write_memory(out, &state, &usage, archive_known_bytes(sources->archive));
    write_labelled(out, "memory_bytes", "part", "questions", atomic_load(&sources->questions->used_bytes));
    write_questions(out, sources->questions);
    write_store(out, &usage);
    write_damages(out, archive_store(sources->archive));
    exposition_end(out);
    state_clear(&state);
}
