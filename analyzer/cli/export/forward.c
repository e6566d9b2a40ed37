#include "analyzer/cli/export/forward.h"

#include <string.h>

#include "analyzer/cli/export/chosen.h"
#include "analyzer/cli/export/collector.h"
#include "analyzer/cli/export/export_show.h"
#include "analyzer/cli/export/otlp_lines.h"
#include "analyzer/cli/export/position.h"
#include "analyzer/cli/format/progress.h"
#include "common/base/clock.h"
#include "common/base/config_value.h"
#include "common/base/error.h"
#include "common/base/harmless.h"

/* Between two looks for new traces. */
#define LOOK_EVERY_NS (2 * NS_PER_SEC)
/* Most traces are stored so soon after they began. A look back so far is cheap; one as far as --reach is done once a
 * minute, for those that were not. */
#define NEAR_NS     (2 * NS_PER_MINUTE)
#define FAR_LOOK_NS NS_PER_MINUTE

/* A chosen trace all of whose spans were met, not all of which have arrived yet. */
typedef struct Waiting {
    char *trace;
    gint64 begin_ns, spans;
    guint64 end; /* of the spans met, the number that follows its last */
} Waiting;

typedef struct Forward {
    const Invocation *invocation;
    const volatile sig_atomic_t *stop;
    Source *source;
    Collector *collector;
    OtlpLines *lines;
    Progress *progress;
    Position *position; /* NULL: once, of all */
    GArray *waiting;    /* in the order they were met */
    guint64 met;        /* spans that were given to lines */
    guint64 spans, cut_traces, grown_traces;
} Forward;

/* ---- bodies ---- */

static gboolean send_text(Forward *forward, const GString *text, GError **error) {
    for (const char *at = text->str, *end; *at != '\0'; at = end + 1) {
        end = strchr(at, '\n');
        if (!collector_send(forward->collector, at, (gsize)(end - at), error)) return FALSE;
    }
    progress_update(forward->progress, forward->spans, 0, "spans");
    return TRUE;
}

/* ---- all that is stored ---- */

static gboolean send_piece(void *arg, Bytes piece, GError **error) {
    Forward *forward = arg;
    if (*forward->stop) return fail(error, PLUMB_ERROR_PEER, "stopped before all was sent");
    g_autoptr(GString) text = g_string_new(NULL);
    forward->spans += otlp_lines_feed(forward->lines, piece, text);
    return send_text(forward, text, error);
}

static gboolean send_stored(Forward *forward, GError **error) {
    g_autoptr(Ask) ask = invocation_ask(forward->invocation, "export");
    const SourceSink sink = {send_piece, forward};
    g_autoptr(GString) rest = g_string_new(NULL);
    if (!source_export(forward->source, ask, &sink, error)) return FALSE;
    forward->spans += otlp_lines_finish(forward->lines, rest);
    return send_text(forward, rest, error);
}

/* ---- chosen ones ---- */

/* Traces that have arrived whole are noted, at once. */
static gboolean note_arrived(Forward *forward, GError **error) {
    const guint64 arrived = forward->met - otlp_lines_gathered(forward->lines);
    guint n = 0;
    for (; n < forward->waiting->len; n++) {
        const Waiting *one = &g_array_index(forward->waiting, Waiting, n);
        if (one->end > arrived) break;
        if (forward->position != NULL) position_add(forward->position, one->trace, one->begin_ns, one->spans);
    }
    if (n > 0) g_array_remove_range(forward->waiting, 0, n);
    return forward->position == NULL || n == 0 || position_save(forward->position, error);
}

/* A body of chosen traces. */
static gboolean send_body(Forward *forward, const GString *text, guint64 spans, GError **error) {
    if (text->len == 0) return TRUE;
    if (*forward->stop) return fail(error, PLUMB_ERROR_PEER, "stopped before all was sent");
    if (!send_text(forward, text, error)) return FALSE;
    forward->spans += spans;
    return note_arrived(forward, error);
}

static gboolean send_gathered(Forward *forward, GError **error) {
    g_autoptr(GString) text = g_string_new(NULL);
    const guint64 spans = otlp_lines_gathered(forward->lines);
    otlp_lines_flush(forward->lines, text);
    return send_body(forward, text, spans, error);
}

static gboolean send_spans(void *arg, const json_t *document, GError **error) {
    Forward *forward = arg;
    g_autoptr(GString) text = g_string_new(NULL);
    forward->cut_traces += chosen_is_cut(document);
    for (gsize at = 0;;) {
        const gsize begin = at;
        const guint64 before = otlp_lines_gathered(forward->lines);
        const gboolean complete = otlp_lines_add(forward->lines, document, &at, text);
        forward->met += at - begin;
        if (!complete) return TRUE;
        if (!send_body(forward, text, before + (at - begin), error)) return FALSE;
        g_string_truncate(text, 0);
    }
}

/* Was it sent before? Then only whether it has grown is noted. */
static gboolean was_sent(Forward *forward, const json_t *row) {
    const char *trace = field_text(row, "trace");
    if (forward->position == NULL || !position_was_sent(forward->position, trace)) return FALSE;
    forward->grown_traces += position_grew(forward->position, trace, field_int(row, "spans"));
    return TRUE;
}

static gboolean send_trace(void *arg, const json_t *row, GError **error) {
    Forward *forward = arg;
    const ChosenSpans spans = {send_spans, forward};
    const char *trace = field_text(row, "trace");
    const guint64 begin = forward->met;
    if (*forward->stop) return fail(error, PLUMB_ERROR_PEER, "stopped before all was sent");
    if (was_sent(forward, row)) return TRUE;
    if (!chosen_load(forward->source, trace, &spans, error)) return FALSE;
    const guint64 met = forward->met - begin;
    if (met == 0) return TRUE; /* it is gone */
    /* Some may have joined it since it was found; one that was cut has more than were sent. */
    const Waiting one = {g_strdup(trace), field_int(row, "begin_time_ns"), MAX(field_int(row, "spans"), (gint64)met),
                         forward->met};
    g_array_append_val(forward->waiting, one);
    return note_arrived(forward, error);
}

static gboolean send_chosen(Forward *forward, const char *since, GError **error) {
    const ChosenVisitor visitor = {send_trace, forward};
    return chosen_visit(forward->invocation, forward->source, since, &visitor, error) && send_gathered(forward, error);
}

/* ---- new ones, all the time ---- */

static gboolean look(Forward *forward, gint64 since_ns, GError **error) {
    g_autofree char *since = g_strdup_printf("%" G_GINT64_FORMAT, MAX(since_ns, position_since_ns(forward->position)));
    return send_chosen(forward, since, error);
}

/* plumbd may start again meanwhile: that is waited for. What was gathered then, and has not arrived, is asked for
 * again. */
static gboolean outlives(Forward *forward, gboolean *told, GError **error) {
    const gboolean passing = g_error_matches(*error, PLUMB_ERROR, PLUMB_ERROR_PEER) ||
                             g_error_matches(*error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    if (*forward->stop || !passing || collector_refused(forward->collector)) return FALSE;
    g_autofree char *line = g_strdup_printf("%s; trying again", (*error)->message);
    if (!*told) invocation_say("export", line);
    *told = TRUE;
    g_clear_error(error);
    g_array_set_size(forward->waiting, 0);
    otlp_lines_clear(forward->lines);
    forward->met = 0;
    return TRUE;
}

static gboolean follow(Forward *forward, gint64 reach_ns, GError **error) {
    const Clock *clock = clock_system();
    gint64 far_ns = G_MININT64;             /* when the last look as far as --reach was */
    gboolean told = FALSE, reached = FALSE; /* a plumbd that was never there may be a wrong address */
    do {
        const gint64 now_ns = clock_wall_ns(clock);
        const gboolean far = far_ns == G_MININT64 || now_ns - far_ns >= FAR_LOOK_NS;
        if (look(forward, far ? G_MININT64 : now_ns - NEAR_NS, error)) {
            told = FALSE;
            reached = TRUE;
            if (far) position_advance(forward->position, now_ns - reach_ns);
            if (far && !position_save(forward->position, error)) return FALSE;
            if (far) far_ns = now_ns;
        } else if (!reached || !outlives(forward, &told, error)) {
            break;
        }
    } while (collector_wait(forward->collector, LOOK_EVERY_NS));
    if (*forward->stop) g_clear_error(error); /* that is how it ends */
    return *forward->stop;
}

/* ---- the command ---- */

static CliExit report(const Forward *forward, const char *url) {
    const CollectorCounts *counts = collector_counts(forward->collector);
    json_auto_t *document =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:I, s:I}", "to", url, "spans", (json_int_t)forward->spans,
                  "requests", (json_int_t)counts->requests, "repeats", (json_int_t)counts->repeats, "rejected_spans",
                  (json_int_t)counts->rejected_spans, "said", counts->said != NULL ? counts->said : "", "grown_traces",
                  (json_int_t)forward->grown_traces, "cut_traces", (json_int_t)forward->cut_traces);
    const ShowOptions options = invocation_show_options(forward->invocation);
    return invocation_print(forward->invocation, document, show_forward, &options);
}

static gboolean reach_of(const Invocation *invocation, gint64 *reach_ns) {
    const char *text = option_text(invocation, "reach");
    return duration_parse(text, reach_ns) && *reach_ns >= NEAR_NS;
}

/* Where a first start begins: with --since, else now. */
static Position *open_position(const Invocation *invocation, GError **error) {
    const gint64 now_ns = clock_wall_ns(clock_system());
    const char *text = option_text(invocation, "since");
    gint64 ago_ns = 0;
    if (text != NULL && !duration_parse(text, &ago_ns)) {
        fail(error, PLUMB_ERROR_CONFIG, "--since %s: with --follow it must say how long ago: 15m, 2h, 3d", text);
        return NULL;
    }
    return position_open(option_text(invocation, "position"), option_text(invocation, "to"), now_ns - ago_ns, error);
}

static gboolean run(Forward *forward, gint64 reach_ns, GError **error) {
    const Invocation *invocation = forward->invocation;
    const gboolean following = option_flag(invocation, "follow");
    g_autoptr(Source) source = source_open(&invocation->source, error);
    g_autoptr(Position) position = following && source != NULL ? open_position(invocation, error) : NULL;
    if (source == NULL || (following && position == NULL)) return FALSE;
    forward->source = source;
    forward->position = position;
    if (following) return follow(forward, reach_ns, error);
    return chosen_is_asked(invocation) ? send_chosen(forward, NULL, error) : send_stored(forward, error);
}

static void clear_waiting(gpointer waiting) { g_free(((Waiting *)waiting)->trace); }

CliExit forward_spans(const Invocation *invocation, const volatile sig_atomic_t *stop) {
    gint64 reach_ns = 0;
    if (!reach_of(invocation, &reach_ns))
        return invocation_usage(invocation, "--reach must be a duration of 2m or more: 30m, 2h");
    const char *url = option_text(invocation, "to");
    const CollectorOptions options = {.url = url,
                                      .headers = option_text(invocation, "to-headers"),
                                      .ca = option_text(invocation, "to-ca"),
                                      .persistent = option_flag(invocation, "follow"),
                                      .stop = stop};
    GError *error = NULL;
    g_autoptr(Collector) collector = collector_new(&options, &error);
    if (collector == NULL) return invocation_failed(invocation, error);

    g_autoptr(OtlpLines) lines = otlp_lines_new();
    g_autoptr(GArray) waiting = g_array_new(FALSE, FALSE, sizeof(Waiting));
    g_array_set_clear_func(waiting, clear_waiting);
    Forward forward = {.invocation = invocation,
                       .stop = stop,
                       .collector = collector,
                       .lines = lines,
                       .progress = progress_start(&invocation->style, "sending"),
                       .waiting = waiting};
    const gboolean done = run(&forward, reach_ns, &error);
    progress_stop(forward.progress);
    const CliExit said = done || forward.spans > 0 ? report(&forward, url) : CLI_OK;
    return done ? said : invocation_failed(invocation, error);
}
