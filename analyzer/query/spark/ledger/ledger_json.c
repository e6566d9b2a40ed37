#include "analyzer/query/spark/ledger/ledger_json.h"

#include "analyzer/diagnosis/bigroots.h"
#include "analyzer/query/spark/tasks/facts_json.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define SERVERS_SHOWN 4u

/* ---- servers of HDFS ---- */

/* What the part has beyond the expected is shared out by the time that was waited for each. */
static json_t *servers_json(const AppLedger *ledger, LedgerPart part, gint64 more_ns, const TaskHdfs *hdfs) {
    Archive *archive = ledger->input.archive;
    g_autoptr(GArray) servers = ledger_servers(hdfs, part);
    gint64 all_ns = 0;
    for (guint i = 0; i < servers->len; i++) all_ns += g_array_index(servers, HdfsShare, i).ns;

    json_t *list = json_array();
    for (guint i = 0; i < servers->len && i < SERVERS_SHOWN; i++) {
        const HdfsShare *server = &g_array_index(servers, HdfsShare, i);
        json_t *object = waited_json(archive, server);
        const double share = all_ns > 0 ? (double)server->ns / (double)all_ns : 0;
        json_object_set_new(object, "more_ns", json_integer((gint64)(share * (double)more_ns)));
        json_array_append_new(list, object);
    }
    return list;
}

/* ---- ledgers ---- */

static void add_varies(json_t *object, const Ledger *its, LedgerAccount account) {
    if (account == ACCOUNT_NONE || its->varies_ns[account] == USUAL_ANYTHING) return;
    json_object_set_new(object, "varies_ns", json_integer(its->varies_ns[account]));
}

/* Its parts are judged together. NULL: there are none. */
static json_t *hdfs_account_json(const Ledger *its) {
    gint64 time_ns[ACCOUNT_COUNT], more_ns[ACCOUNT_COUNT];
    ledger_accounts(its->time_ns, time_ns);
    ledger_accounts(its->more_ns, more_ns);
    if (time_ns[ACCOUNT_HDFS] == 0 && more_ns[ACCOUNT_HDFS] == 0) return NULL;
    json_t *object = json_object();
    json_object_set_new(object, "time_ns", json_integer(time_ns[ACCOUNT_HDFS]));
    json_object_set_new(object, "more_ns", json_integer(more_ns[ACCOUNT_HDFS]));
    add_varies(object, its, ACCOUNT_HDFS);
    return object;
}

static json_t *parts_json(const AppLedger *ledger, const Ledger *its, const TaskHdfs *hdfs) {
    json_t *list = json_array();
    for (guint k = 0; k < LEDGER_PART_COUNT; k++) {
        const LedgerPart part = (LedgerPart)k;
        if (its->time_ns[k] == 0 && its->more_ns[k] == 0) continue;
        json_t *object = json_object();
        json_object_set_new(object, "part", json_string(ledger_part_name(part)));
        json_object_set_new(object, "time_ns", json_integer(its->time_ns[k]));
        json_object_set_new(object, "more_ns", json_integer(its->more_ns[k]));
        const LedgerAccount account = ledger_account(part);
        if (account != ACCOUNT_HDFS && account != ACCOUNT_DATA) add_varies(object, its, account);
        if (hdfs && its->traced >= TRACED_HDFS && ledger_part_resources(part) != 0 && its->time_ns[k] > 0)
            json_object_set_new(object, "servers", servers_json(ledger, part, its->more_ns[k], hdfs));
        json_array_append_new(list, object);
    }
    return list;
}

json_t *ledger_json(const AppLedger *ledger, guint32 row, const TaskHdfs *hdfs) {
    Ledger its;
    if (!ledgers_of(ledger->ledgers, row, &its)) return NULL;
    json_t *object = json_object();
    json_object_set_new(object, "peers", json_integer(its.peers));
    json_object_set_new(object, "duration_ns", json_integer(its.duration_ns));
    json_object_set_new(object, "usual_ns", json_integer(its.usual_ns));
    json_object_set_new(object, "excess_ns", json_integer(ledger_excess_ns(&its)));
    if (its.bound_ns > 0) json_object_set_new(object, "data_bound_ns", json_integer(its.bound_ns));
    json_object_set_new(object, "parts", parts_json(ledger, &its, hdfs));
    json_t *account = hdfs_account_json(&its);
    if (account) json_object_set_new(object, "hdfs", account);
    return object;
}

/* ---- causes ---- */

json_t *ledger_cause_json(const AppLedger *ledger, const LedgerCause *cause) {
    json_t *object = json_object();
    json_object_set_new(object, "feature", json_string(ledger_cause_name(ledger, cause)));
    json_object_set_new(object, "kind", json_string("ledger"));
    json_object_set_new(object, "topic", json_string(feature_topic_name(cause->topic)));
    json_object_set_new(object, "unit", json_string("ms"));
    json_object_set_new(object, "verdict", json_string(verdict_name(cause->small ? VERDICT_SMALL : VERDICT_CAUSE)));
    json_object_set_new(object, "part", json_string(ledger_part_name(cause->part)));
    json_set_number(object, "measured", (double)cause->explains_ns / NS_PER_MS);
    json_set_number(object, "value", (double)cause->explains_ns / NS_PER_MS);
    if (!cause->small)
        json_set_number(object, "bound", ledger->input.options.lambda_w * (double)cause->excess_ns / NS_PER_MS);
    if (cause->load < 0) return object;
    const LedgerLoad *load = &ledger->loads[(gsize)cause->straggler * ledger->foreign.n + (guint)cause->load];
    json_set_number(object, "load", load->value);
    json_set_number(object, "usual_load", load->usual);
    json_object_set_new(object, "load_unit",
                        json_string(task_feature(ledger->input.tasks->table, load->feature)->unit));
    return object;
}

gboolean asked_ledger(const Asked *asked, LedgerOptions *options, GError **error) {
    LedgerOptions result = ledger_options();
    if (!params_real(asked->params, "lambda_p", &result.lambda_p, error) ||
        !params_real(asked->params, "lambda_w", &result.lambda_w, error))
        return FALSE;
    *options = result;
    return TRUE;
}

json_t *json_ledger_options(const LedgerOptions *options) {
    json_t *object = json_object();
    json_set_number(object, "lambda_p", options->lambda_p);
    json_set_number(object, "lambda_w", options->lambda_w);
    return object;
}
