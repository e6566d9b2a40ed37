#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/calltree/times.h"
#include "analyzer/query/columns/calls.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/trace_tasks.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/base/fnv.h"

typedef struct Gather {
    Calls *calls;
    const CallsAsked *wanted;
    GHashTable *known; /* CallKind -> number + 1 */
    WaitTable *waits;
    WaitPart parts;    /* of all functions, where times are asked for */
    guint32 last_kind; /* spans of one kind often come one behind the other */
    GString *text;
} Gather;

/* ---- kinds ---- */

static guint kind_hash(gconstpointer data) {
    const CallKind *kind = data;
    const guint64 h = ((guint64)kind->name << 32 | kind->tracer) ^ kind->needed;
    return (guint)((h * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32);
}

static gboolean kind_equal(gconstpointer left, gconstpointer right) {
    const CallKind *a = left, *b = right;
    return a->name == b->name && a->tracer == b->tracer && a->needed == b->needed;
}

/* ASCII letters are alike, whatever their case. */
static gboolean has_text(const char *text, gsize length, const char *wanted) {
    const gsize n = strlen(wanted);
    for (gsize i = 0; n <= length && i <= length - n; i++) {
        gsize same = 0;
        while (same < n && g_ascii_tolower(text[i + same]) == wanted[same]) same++;
        if (same == n) return TRUE;
    }
    return FALSE;
}

static gboolean name_has(const Gather *g, guint32 id) {
    gsize length;
    const char *text = dict_text(archive_dict(g->calls->archive), id, &length);
    return has_text(text, length, g->wanted->find);
}

/* A span of the kind, with nothing else but what times are computed from. */
static SpanRec *kind_span(const Gather *g, const SpanRec *span) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    const SpanRec head = {.name = span->name, .tracer = span->tracer};
    SpanBuilder builder = span_builder_begin(bytes, &head);
    SpanCursor cursor = span_cursor(span);
    for (SpanAnnotation annotation; g->wanted->times && span_next_annotation(&cursor, &annotation);)
        if (wait_table_needs(g->waits, annotation.key))
            span_builder_annotation(&builder, annotation.key, annotation.value, annotation.length);
    span_builder_end(&builder);
    calls_charge(g->calls, bytes->len);
    return (SpanRec *)(void *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
}

/* Of the annotations that times are computed from; 0: there are none, or nobody asked for times. */
static guint64 hash_needed(const Gather *g, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    guint64 hash = 0;
    for (SpanAnnotation annotation; g->wanted->times && span_next_annotation(&cursor, &annotation);) {
        if (!wait_table_needs(g->waits, annotation.key)) continue;
        hash = fnv64(hash != 0 ? hash : FNV64_BASIS, &annotation.key, sizeof annotation.key);
        hash = fnv64(hash, annotation.value, annotation.length) | 1;
    }
    return hash;
}

static gboolean kind_of(Gather *g, const SpanRec *span, guint32 *number, GError **error) {
    CallKind kind = {.name = span->name, .tracer = span->tracer, .needed = hash_needed(g, span)};
    GArray *kinds = g->calls->kinds;
    if (kinds->len > 0 && kind_equal(&g_array_index(kinds, CallKind, g->last_kind), &kind)) {
        *number = g->last_kind;
        return TRUE;
    }

    const guint known = GPOINTER_TO_UINT(g_hash_table_lookup(g->known, &kind));
    if (known > 0) {
        *number = g->last_kind = known - 1;
        return TRUE;
    }
    if (kinds->len == CALLS_MAX_KINDS)
        return fail(error, PLUMB_ERROR_LIMIT, "the trace has more than %u kinds of calls: ask for one of its parts",
                    CALLS_MAX_KINDS);
    kind.found = g->wanted->find != NULL && (name_has(g, kind.name) || name_has(g, kind.tracer));
    kind.span = kind_span(g, span);
    if (g->wanted->times) g->parts |= wait_table_part(g->waits, kind.name);
    *number = g->last_kind = kinds->len;
    g_hash_table_insert(g->known, g_memdup2(&kind, sizeof kind), GUINT_TO_POINTER(*number + 1));
    g_array_append_val(kinds, kind);
    /* The table's entry and its key. */
    calls_charge(g->calls, 4 * sizeof kind);
    return TRUE;
}

/* ---- spans ---- */

/* In its description, or in KEY=VALUE of an annotation, or in a note. */
static gboolean span_has(Gather *g, const SpanRec *span) {
    Dict *dict = archive_dict(g->calls->archive);
    SpanCursor cursor = span_cursor(span);
    guint skip = 0;
    g_string_truncate(g->text, 0);
    span_description(g->calls->archive, span, g->text, &skip);

    for (SpanAnnotation annotation; span_next_annotation(&cursor, &annotation);) {
        gsize length;
        const char *key = dict_text(dict, annotation.key, &length);
        g_string_append_c(g->text, '\n');
        g_string_append_len(g->text, key, (gssize)length);
        g_string_append_c(g->text, '=');
        g_string_append_len(g->text, annotation.value, annotation.length);
    }
    for (SpanNote note; span_next_note(&cursor, &note);) {
        g_string_append_c(g->text, '\n');
        g_string_append_len(g->text, note.message, note.length);
    }
    return has_text(g->text->str, g->text->len, g->wanted->find);
}

guint32 calls_add(Calls *calls) {
    if (calls->n == calls->room) {
        calls->room = MAX(1024, calls->room + calls->room / 2);
        calls->calls = g_renew(Call, calls->calls, calls->room);
    }
    calls->calls[calls->n] = (Call){0};
    return calls->n++;
}

static void set_parents(Calls *calls, guint32 slot, const SpanRec *span) {
    Call *call = &calls->calls[slot];
    const SpanId *parents = span_parents(span);
    if (span->n_parents == 0) {
        call->flags |= CALL_ROOT;
        return;
    }
    call->parent_id = parents[0].span;
    if (parents[0].trace != calls->trace_id) call->flags |= CALL_FOREIGN;
    for (guint i = 1; i < span->n_parents; i++) {
        const OtherParent other = {slot, parents[i]};
        g_array_append_val(calls->others, other);
    }
}

static void add_notes(Calls *calls, guint32 slot, const SpanRec *span, guint most) {
    SpanCursor cursor = span_cursor(span);
    for (SpanNote note; span_next_note(&cursor, &note);) {
        CallNote one = {.slot = slot};
        calls->more_notes = calls->notes->len >= most;
        if (calls->more_notes) return;
        if (__builtin_sub_overflow(note.time_ns, span->begin_ns, &one.after_ns))
            one.after_ns = note.time_ns < span->begin_ns ? G_MININT64 : G_MAXINT64;
        g_array_append_val(calls->notes, one);
    }
}

static gboolean add_span(Gather *g, const SpanRec *span, GError **error) {
    Calls *calls = g->calls;
    guint32 kind = 0;
    if (!kind_of(g, span, &kind, error)) return FALSE;
    const gboolean found =
        g->wanted->find != NULL && (g_array_index(calls->kinds, CallKind, kind).found || span_has(g, span));

    const guint32 slot = calls_add(calls);
    Call *call = &calls->calls[slot];
    call->id = span->id.span;
    call->begin_ns = span->begin_ns;
    call->duration_ns = span->duration_ns;
    call->kind = kind & (CALLS_MAX_KINDS - 1);
    if (span->duration_ns < 0) call->flags |= NODE_REVERSED;
    if (span->flags & SPAN_MILLISECONDS) call->flags |= CALL_MILLISECONDS;
    if (span->n_notes > 0) call->flags |= CALL_NOTES;
    if (span->n_notes > 0 && g->wanted->notes_max > 0) add_notes(calls, slot, span, g->wanted->notes_max);
    if (found) call->flags |= CALL_FOUND;
    set_parents(calls, slot, span);
    if (span->n_parents == 0) trace_task_add_own(calls->tasks, calls->archive, calls->trace_id, span);
    return TRUE;
}

static gboolean add_spans(Gather *g, const GByteArray *bytes, GError **error) {
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(bytes, &at)) != NULL && allowance_goes_on_with(span->size_bytes);)
        if (!add_span(g, span, error)) return FALSE;
    return allowance_check(error);
}

/* ---- parts ---- */

/* Of each span, in the table of ids. */
#define TABLE_BYTES 12u

/* Is there room for as many again as the last part had? First its records lie beside the calls, then the table of ids
 * does, or the columns that are made of them. */
static gboolean has_room(const Gather *g, guint32 last, gsize part_bytes) {
    const Calls *calls = g->calls;
    const gboolean waits = g->parts & PART_BLOCKS && g->parts & PART_STATION;
    const gsize row_bytes = g->wanted->row_bytes + (waits ? TIMES_WAITS_BYTES : 0);
    const guint64 then = (guint64)calls->n + last;
    const gsize left = allowance_left(), held = calls->n * sizeof(Call) + part_bytes;
    const gsize gathered = then * sizeof(Call) + part_bytes;
    /* Behind the first part most callers may be missing, and something stands for each. */
    const gsize call_bytes = calls->first_part > 0 ? 2 * sizeof(Call) : sizeof(Call);
    const gsize made = then * (call_bytes + MAX(TABLE_BYTES, row_bytes));
    if (then > CALLS_MAX_SPANS) return FALSE;
    return left == G_MAXSIZE || MAX(gathered, made) < held + left;
}

static gboolean gather_parts(Gather *g, GError **error) {
    Calls *calls = g->calls;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    gsize charged = 0;
    gboolean good = TRUE;

    for (guint part = calls->first_part; good; part++) {
        const guint32 before = calls->n;
        ArchiveLoad load = {.first_part = part, .max_spans = 1, .max_bytes = trace_view_room()};
        g_byte_array_set_size(bytes, 0);
        allowance_hold(&charged, 0); /* loading charges what it brings itself */
        good = archive_load_parts(calls->archive, calls->trace_id, &load, bytes, error);
        if (!good) break;
        allowance_hold(&charged, bytes->len);
        good = add_spans(g, bytes, error);
        calls_charge(calls, (calls->n - before) * sizeof(Call));
        calls->parts = load.parts;
        calls->waiting = load.late_left;
        calls->loaded++;
        if (part + 1 >= load.parts || !has_room(g, calls->n - before, bytes->len)) break;
    }

    allowance_hold(&charged, 0);
    return good && allowance_check(error);
}

gboolean calls_asked_read(const Asked *asked, CallsAsked *wanted, GError **error) {
    SpanId id;
    gboolean one_span;
    guint64 part = 1;
    if (!asked_trace(asked, "id", &id, &one_span, error) || !params_count(asked->params, "part", &part, error))
        return FALSE;
    if (part == 0) return fail(error, PLUMB_ERROR_INPUT, "parts of a trace are counted from 1");
    *wanted = (CallsAsked){.trace_id = id.trace, .first_part = (guint)MIN(part - 1, G_MAXUINT)};
    return TRUE;
}

Calls *calls_load(const Asked *asked, const CallsAsked *wanted, GError **error) {
    g_autoptr(Calls) calls = g_new0(Calls, 1);
    calls->archive = asked->archive;
    calls->trace_id = wanted->trace_id;
    calls->first_part = wanted->first_part;
    calls->kinds = g_array_new(FALSE, FALSE, sizeof(CallKind));
    calls->others = g_array_new(FALSE, FALSE, sizeof(OtherParent));
    calls->notes = g_array_new(FALSE, FALSE, sizeof(CallNote));
    calls_charge(calls, wanted->notes_max * sizeof(CallNote));
    calls->tasks = json_array();
    calls_add(calls); /* the trace */
    calls_charge(calls, sizeof(Call));

    g_autoptr(GHashTable) known = g_hash_table_new_full(kind_hash, kind_equal, g_free, NULL);
    Gather gather = {.calls = calls,
                     .wanted = wanted,
                     .known = known,
                     .waits = archive_waits(asked->archive),
                     .text = g_string_new(NULL)};
    const gboolean good = gather_parts(&gather, error);
    g_string_free(gather.text, TRUE);
    if (!good || !calls_join(calls, error)) return NULL;
    return g_steal_pointer(&calls);
}

void calls_charge(Calls *calls, gsize bytes) { allowance_hold(&calls->charged, calls->charged + bytes); }

void calls_drop_links(Calls *calls) {
    const gsize bytes = calls->n * sizeof(Call);
    g_clear_pointer(&calls->calls, g_free);
    calls->n = calls->room = 0;
    allowance_hold(&calls->charged, calls->charged - MIN(bytes, calls->charged));
}

void calls_free(Calls *calls) {
    if (calls == NULL) return;
    for (guint i = 0; i < calls->kinds->len; i++) g_free(g_array_index(calls->kinds, CallKind, i).span);
    g_array_unref(calls->kinds);
    g_array_unref(calls->others);
    g_array_unref(calls->notes);
    json_decref(calls->tasks);
    g_free(calls->calls);
    allowance_hold(&calls->charged, 0);
    g_free(calls);
}
