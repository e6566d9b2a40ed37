/* plumbd's configuration: the table of options, and their values as plain data for the threads. */
#pragma once

#include "analyzer/archive/archive.h"
#include "common/base/config.h"
#include "receiver/background/retention.h"
#include "receiver/kafka/kafka_settings.h"
#include "receiver/secure/audit.h"
#include "receiver/secure/name_owners.h"
#include "receiver/secure/quota.h"
#include "receiver/secure/security.h"
#include "receiver/shared/log.h"
#include "receiver/shared/name_quota.h"
#include "receiver/shell/limits.h"
#include "receiver/traces/open_traces.h"

extern const ConfigOption settings_table[];

typedef enum { ACK_JOURNAL, ACK_FSYNC, ACK_MEMORY } AckMode; /* in the order of the table's choices */

typedef struct Settings {
    char *listen_thrift, *listen_http, *listen_hrpc; /* hrpc: empty: off */
    gboolean insecure;
    SecuritySettings security; /* texts and lists of it are owned */
    NamesMode names_mode;
    char **mask_rules;
    char *mask_key;   /* its file; empty: none */
    QuotaRules quota; /* lists of it are owned */
    guint per_address;
    AuditLevel audit_level;
    char *audit_path;
    guint max_connections;
    gsize frame_bytes, buffer_bytes;
    gint64 frame_timeout_ns, idle_timeout_ns;
    guint net_threads, shards; /* resolved: never 0 */
    gsize queue_bytes;
    KafkaSettings kafka;
    char **http_hosts;
    guint http_connections;
    gint64 http_timeout_ns;
    guint query_threads, query_queue;
    gsize question_bytes; /* never 0 */
    gint64 question_timeout_ns;
    ShellSettings shell; /* its program is owned */
    OpenLimits traces;   /* memory_bytes is of the whole process */
    gsize trace_bytes;   /* of one part of a trace, in memory */
    gint64 clock_tolerance_ns;
    char *store_path, *journal_path;
    gsize store_cache_bytes, store_buffer_bytes;
    guint64 min_free_bytes;
    KeptColumns keep;
    gint64 ids_for_ns;
    AckMode ack;
    gsize journal_segment_bytes;
    guint64 journal_limit_bytes;
    char **name_rules;
    NameLimits names;
    char *sampling;         /* empty: none */
    gboolean sampling_auto; /* sampling is what it begins with */
    guint64 sampling_spans_per_s;
    RetentionLimits retention;
    LogLevel log_level;
    gint64 stop_timeout_ns;
} Settings;

/* Copies of all values. Errors: CONFIG, for values that do not fit together. */
Settings *settings_new(const Config *config, GError **error);
void settings_free(Settings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Settings, settings_free)
