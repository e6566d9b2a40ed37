/* Search for traces. The search index says which records may fit; conditions that the summary or the pattern can answer
 * are asked before a record is decoded. */
#include <string.h>

#include "analyzer/archive/index/terms.h"
#include "analyzer/archive/read/load.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/read/search_terms.h"
#include "analyzer/query/shared/candidates.h"
#include "analyzer/query/shared/path_filter.h"
#include "analyzer/query/shared/pattern_match.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/spans/functions.h"
#include "analyzer/query/traces/trace_answers.h"
#include "analyzer/query/traces/trace_counts.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* More patterns than this may have the function asked for: then only their records' summaries tell. */
#define PATTERN_TERMS_MAX 1024u
/* No duration is longer: 2^52 ns, 52 days, as in statistics. */
#define DURATION_POWER_MAX 52u
/* A full page is followed by a search for one match more. It looks at as many records again as the page took, and at so
 * many: a filter that hardly anything passes must not have the whole period read for it. */
#define LOOKED_ON_LEAST 4096u

typedef struct AnnotationFilter {
    guint32 key;       /* dictionary id; G_MAXUINT32: no stored span has it */
    const char *value; /* NULL: any */
} AnnotationFilter;

typedef struct TraceFilter {
    Archive *archive;
    Period period;
    guint32 roles, function, host;
    guint32 pattern; /* 0: all */
    gboolean incomplete;
    gint64 min_duration_ns, max_duration_ns;
    gint64 call_min_ns, call_max_ns; /* of the span that has function, role and host */
    guint64 min_spans, max_spans;
    PathFilter *path;    /* NULL: any */
    GArray *annotations; /* AnnotationFilter */
    PatternMatch shapes; /* those that have function and role */
} TraceFilter;

static void filter_clear(TraceFilter *filter) {
    path_filter_free(filter->path);
    if (filter->annotations) g_array_unref(filter->annotations);
    pattern_match_clear(&filter->shapes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceFilter, filter_clear)

static void parse_annotations(const Asked *asked, TraceFilter *filter) {
    Dict *dict = archive_dict(asked->archive);
    const char *text;
    for (guint i = 0; (text = params_nth(asked->params, "annotation", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        gsize length = equals ? (gsize)(equals - text) : strlen(text);
        guint32 id = dict_find(dict, text, length);
        AnnotationFilter annotation = {id ? id : G_MAXUINT32, equals ? equals + 1 : NULL};
        g_array_append_val(filter->annotations, annotation);
    }
}

static gboolean parse_path(const Asked *asked, TraceFilter *filter, GError **error) {
    const char *text = params_text(asked->params, "path");
    if (text == NULL) return TRUE;
    filter->path = path_filter_new(text);
    return filter->path ? TRUE : fail(error, PLUMB_ERROR_INPUT, "path: '%s' names no component of a path", text);
}

static gboolean pattern_has(const void *arg, const Pattern *pattern) {
    const TraceFilter *filter = arg;
    for (guint32 i = 1; i < pattern->n_nodes; i++) {
        const PatternNode *node = &pattern->nodes[i];
        if (node->name == NAME_MISSING) continue;
        if (filter->function && node->name != filter->function) continue;
        if (filter->roles & (1u << node->role)) return TRUE;
    }
    return FALSE;
}

static gboolean parse_filter(const Asked *asked, TraceFilter *filter, GError **error) {
    const QueryParams *params = asked->params;
    filter->archive = asked->archive;
    filter->roles = ALL_ROLES;
    filter->function = asked_name(asked, "function");
    filter->host = asked_name(asked, "host");
    filter->max_duration_ns = filter->call_max_ns = G_MAXINT64;
    filter->max_spans = G_MAXUINT64;
    filter->annotations = g_array_new(FALSE, FALSE, sizeof(AnnotationFilter));
    pattern_match_init(&filter->shapes, asked->archive, pattern_has, filter);
    parse_annotations(asked, filter);

    return params_period(params, asked->now_ns, &filter->period, error) &&
           params_roles(params, &filter->roles, error) &&
           params_duration(params, "min_duration", &filter->min_duration_ns, error) &&
           params_duration(params, "max_duration", &filter->max_duration_ns, error) &&
           params_duration(params, "call_min_duration", &filter->call_min_ns, error) &&
           params_duration(params, "call_max_duration", &filter->call_max_ns, error) &&
           params_count(params, "min_spans", &filter->min_spans, error) &&
           params_count(params, "max_spans", &filter->max_spans, error) &&
           params_flag(params, "incomplete", &filter->incomplete, error) &&
           asked_pattern(asked, "pattern", &filter->pattern, error) && parse_path(asked, filter, error);
}

/* ---- without decoding ---- */

static gboolean asks_shape(const TraceFilter *filter) { return filter->function != 0 || filter->roles != ALL_ROLES; }

static gboolean pattern_fits(TraceFilter *filter, guint32 number) {
    if (filter->pattern && number != filter->pattern) return FALSE;
    return !asks_shape(filter) || pattern_match_number(&filter->shapes, number);
}

static gboolean shape_fits(TraceFilter *filter, ArchiveScan *scan, guint32 number) {
    return !asks_shape(filter) || pattern_match_record(&filter->shapes, scan, number);
}

static gboolean summary_fits(TraceFilter *filter, const TraceSummary *summary) {
    gint64 duration_ns = summary->end_ns - summary->begin_ns;
    if (duration_ns < filter->min_duration_ns || duration_ns > filter->max_duration_ns) return FALSE;
    if (filter->incomplete && !(summary->flags & TRACE_INCOMPLETE)) return FALSE;
    /* A part says only that the trace has as many at least; its row tells how many. */
    if (summary->n_spans > filter->max_spans) return FALSE;
    if (summary->n_spans < filter->min_spans && !(summary->flags & TRACE_PART)) return FALSE;
    return pattern_fits(filter, summary->pattern);
}

/* ---- with the spans ---- */

static gboolean annotation_fits(const AnnotationFilter *wanted, const SpanAnnotation *annotation) {
    if (annotation->key != wanted->key) return FALSE;
    if (!wanted->value) return TRUE;
    return strlen(wanted->value) == annotation->length &&
           memcmp(wanted->value, annotation->value, annotation->length) == 0;
}

static gboolean asks_calls(const TraceFilter *filter) {
    return filter->call_min_ns > 0 || filter->call_max_ns < G_MAXINT64;
}

static gboolean call_fits(const TraceFilter *filter, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(filter->archive);
    Role role;
    guint32 host;
    const gint64 duration_ns = MAX(span->duration_ns, 0);
    if (filter->function && span->name != filter->function) return FALSE;
    if (duration_ns < filter->call_min_ns || duration_ns > filter->call_max_ns) return FALSE;
    lookup->process(lookup->arg, span->tracer, &role, &host);
    return (filter->host == 0 || host == filter->host) && (filter->roles & (1u << role));
}

/* What is still to be met of a record's annotations. */
typedef struct Meeting {
    const TraceFilter *filter;
    gboolean path_missing;
    guint annotations_missing;
    gboolean *met; /* by annotation */
} Meeting;

static Meeting meeting_begin(const TraceFilter *filter) {
    guint n = filter->annotations->len;
    return (Meeting){filter, filter->path != NULL, n, n > 0 ? g_new0(gboolean, n) : NULL};
}

/* FALSE: all are met. */
static gboolean meet(void *arg, guint32 node, const SpanAnnotation *annotation) {
    Meeting *meeting = arg;
    const TraceFilter *filter = meeting->filter;
    (void)node;
    if (meeting->path_missing && path_filter_fits(filter->path, annotation->value, annotation->length))
        meeting->path_missing = FALSE;
    for (guint i = 0; i < filter->annotations->len; i++) {
        if (meeting->met[i] || !annotation_fits(&g_array_index(filter->annotations, AnnotationFilter, i), annotation))
            continue;
        meeting->met[i] = TRUE;
        meeting->annotations_missing--;
    }
    return meeting->path_missing || meeting->annotations_missing > 0;
}

static gboolean any_call_fits(const TraceFilter *filter, const GByteArray *spans) {
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL && allowance_goes_on();)
        if (call_fits(filter, span)) return TRUE;
    return FALSE;
}

/* Host, duration of a call, function and role must be one span's; path and each annotation may be any span's.
 * Annotations are cheaper to read. */
static gboolean record_fits(const TraceFilter *filter, ArchiveScan *scan, gboolean *fits, GError **error) {
    Meeting meeting = meeting_begin(filter);
    g_autofree gboolean *met = meeting.met;
    *fits = TRUE;
    if (meeting.path_missing || meeting.annotations_missing > 0) {
        if (!archive_scan_annotations(scan, meet, &meeting, error)) return FALSE;
        *fits = !meeting.path_missing && meeting.annotations_missing == 0;
    }
    if (!*fits || (filter->host == 0 && !asks_calls(filter))) return TRUE;
    g_autoptr(GByteArray) spans = g_byte_array_new();
    if (!archive_scan_spans(scan, spans, error)) return FALSE;
    *fits = any_call_fits(filter, spans);
    return TRUE;
}

static gboolean needs_spans(const TraceFilter *filter) {
    return filter->host != 0 || asks_calls(filter) || filter->path != NULL || filter->annotations->len > 0;
}

/* ---- what the index can say ---- */

static void pattern_terms(TraceFilter *filter, SearchTerms *terms) {
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 n = archive_pattern_count(filter->archive), mixed = archive_mixed_count(filter->archive);
    if (!asks_shape(filter) && filter->pattern == 0) return;
    for (guint32 i = 1; i <= n + mixed && allowance_goes_on(); i++) {
        guint32 number = i <= n ? i : MIXED_NUMBER + i - n;
        if (pattern_fits(filter, number)) g_array_append_val(numbers, number);
    }
    if (numbers->len <= PATTERN_TERMS_MAX)
        search_terms_patterns(terms, (const guint32 *)(gconstpointer)numbers->data, numbers->len);
}

static void annotation_terms(const AnnotationFilter *annotation, SearchTerms *terms) {
    if (annotation->value == NULL) return;
    gsize length = strlen(annotation->value);
    const char *at = path_begin(annotation->value, length), *end = annotation->value + length, *component;
    if (at == NULL) search_terms_value(terms, annotation->key, annotation->value, length);
    while (at != NULL && path_next(&at, end, &component, &length)) search_terms_component(terms, component, length);
}

static SearchTerms *filter_terms(TraceFilter *filter) {
    SearchTerms *terms = search_terms_new();
    pattern_terms(filter, terms);
    if (filter->host) search_terms_host(terms, filter->host);
    if (filter->path) path_filter_terms(filter->path, terms);
    /* A trace lasts as long as its longest call at least. */
    const gint64 min_ns = MAX(filter->min_duration_ns, filter->call_min_ns);
    if (min_ns > 0 || filter->max_duration_ns < G_MAXINT64)
        search_terms_duration(terms, min_ns, MAX(filter->max_duration_ns, min_ns));
    for (guint i = 0; i < filter->annotations->len; i++)
        annotation_terms(&g_array_index(filter->annotations, AnnotationFilter, i), terms);
    return terms;
}

/* Does any stored span have what is asked for at all? */
static gboolean can_match(const TraceFilter *filter) {
    if (filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32) return FALSE;
    for (guint i = 0; i < filter->annotations->len; i++) {
        if (g_array_index(filter->annotations, AnnotationFilter, i).key == G_MAXUINT32) return FALSE;
    }
    return TRUE;
}

/* ---- rows ---- */

typedef struct RootFound {
    const SpanRec *span; /* the earliest span without parents or, when there is none, of all */
    gint64 begin_ns, end_ns;
    guint64 n_spans;
} RootFound;

static RootFound find_root(const GByteArray *spans) {
    RootFound found = {NULL, G_MAXINT64, G_MININT64, 0};
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL && allowance_goes_on(); found.n_spans++) {
        const SpanRec *best = found.span;
        gboolean better = !best || (span->n_parents == 0) > (best->n_parents == 0);
        if (!better && (span->n_parents == 0) == (best->n_parents == 0))
            better = span->begin_ns < best->begin_ns ||
                     (span->begin_ns == best->begin_ns && span_id_compare(span->id, best->id) < 0);
        if (better) found.span = span;
        gint64 end_ns = span->begin_ns + MAX(span->duration_ns, 0);
        found.begin_ns = MIN(found.begin_ns, span->begin_ns);
        found.end_ns = MAX(found.end_ns, end_ns);
    }
    return found;
}

static json_t *row_json(Archive *archive, const Candidate *candidate, const RootFound *found) {
    const Lookup *lookup = archive_lookup(archive);
    Role role;
    guint32 host;
    lookup->process(lookup->arg, found->span->tracer, &role, &host);
    json_t *row = json_object();
    json_object_set_new(row, "trace", json_trace_id(candidate->trace_id));
    json_object_set_new(row, "root", json_name(archive, found->span->name));
    json_object_set_new(row, "role", json_string(role_name(role)));
    if (host) json_object_set_new(row, "host", json_name(archive, host));
    json_object_set_new(row, "begin_time_ns", json_integer(found->begin_ns));
    json_object_set_new(row, "duration_ns", json_integer(found->end_ns - found->begin_ns));
    json_object_set_new(row, "spans", json_count(found->n_spans));
    return row;
}

static void add_outcome(json_t *row, guint32 orphans, gboolean incomplete) {
    json_object_set_new(row, "orphans", json_count(orphans));
    json_object_set_new(row, "incomplete", json_boolean(incomplete));
}

/* One trace that takes more than there is must not keep the others from being listed. */
static void add_more(json_t *row, const ArchiveLoad *load) {
    if (!trace_view_has_all(load)) json_object_set_new(row, "more", json_true());
}

/* ---- the search ---- */

typedef enum { SORT_BEGIN, SORT_DURATION, SORT_SPANS } TraceSort;

typedef struct Search {
    TraceFilter filter;
    guint sort;       /* TraceSort */
    gboolean in_scan; /* newest first is the scan's own order: it may stop at the limit */
    guint64 limit;    /* never 0 */
    Candidate after;  /* the last one of the page before; what stands behind it is listed */
    gboolean has_after;
    gint64 last_begin_ns; /* of the match before */
    guint64 scanned, matches;
    guint64 page_scanned; /* when there were as many as the limit */
    gboolean more;
    TraceCounts *counts; /* of all that match; NULL: not asked for */
} Search;

/* ---- where a page ended ---- */

static const char sort_letters[] = "bds"; /* by TraceSort */

/* "d.KEY.BEGIN.ID": what a trace is listed by. */
static json_t *cursor_json(const Search *search, const Candidate *last) {
    g_autofree char *text =
        g_strdup_printf("%c.%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".%016" G_GINT64_MODIFIER "x",
                        sort_letters[search->sort], last->key, last->summary.begin_ns, last->trace_id);
    return json_string(text);
}

static gboolean parse_cursor(const char *text, guint sort, Candidate *after) {
    g_auto(GStrv) parts = g_strsplit(text, ".", -1);
    if (g_strv_length(parts) != 4 || strlen(parts[0]) != 1 || parts[0][0] != sort_letters[sort]) return FALSE;
    return g_ascii_string_to_signed(parts[1], 10, G_MININT64, G_MAXINT64, &after->key, NULL) &&
           g_ascii_string_to_signed(parts[2], 10, G_MININT64, G_MAXINT64 - 1, &after->summary.begin_ns, NULL) &&
           strlen(parts[3]) == 16 && g_ascii_string_to_unsigned(parts[3], 16, 0, G_MAXUINT64, &after->trace_id, NULL);
}

/* Nothing of the pages before is met again, where the order allows it. */
static void begin_behind(Search *search) {
    TraceFilter *filter = &search->filter;
    const Candidate *after = &search->after;
    if (search->sort == SORT_BEGIN) {
        filter->period.until_ns = MIN(filter->period.until_ns, after->summary.begin_ns + 1);
        filter->period.since_ns = MIN(filter->period.since_ns, filter->period.until_ns);
    } else if (search->sort == SORT_DURATION) {
        filter->max_duration_ns = MIN(filter->max_duration_ns, after->key);
    }
}

static gboolean parse_after(const Asked *asked, gboolean summary, Search *search, GError **error) {
    const char *text = params_text(asked->params, "after");
    if (text == NULL) return TRUE;
    if (summary)
        return fail(error, PLUMB_ERROR_INPUT, "counts are of all traces that match: ask for them without after");
    if (!parse_cursor(text, search->sort, &search->after))
        return fail(error, PLUMB_ERROR_INPUT,
                    "after \"%s\" is not what an answer in this order gave as next: begin without it", text);
    search->has_after = TRUE;
    begin_behind(search);
    return TRUE;
}

/* ---- going through ---- */

/* One match more than the limit, or no hope of it. Traces that begin in the same nanosecond are all looked at: they are
 * listed by their ids, and met otherwise. */
static gboolean has_enough(const Search *search, const TraceSummary *summary) {
    if (!search->in_scan || search->matches < search->limit || summary->begin_ns >= search->last_begin_ns) return FALSE;
    return search->matches > search->limit ||
           search->scanned - search->page_scanned >= MAX(search->page_scanned, LOOKED_ON_LEAST);
}

static gint64 sort_key(const Search *search, const TraceSummary *summary) {
    if (search->sort == SORT_DURATION) return summary->end_ns - summary->begin_ns;
    return search->sort == SORT_SPANS ? summary->n_spans : summary->begin_ns;
}

static gboolean search_run(Search *search, Candidates *found, GError **error) {
    TraceFilter *filter = &search->filter;
    gboolean decode = needs_spans(filter);
    g_autoptr(ArchiveScan) scan =
        archive_scan_new(filter->archive, filter->period.since_ns, filter->period.until_ns, TRUE);
    if (!decode) archive_scan_summaries_only(scan);

    g_autoptr(SearchTerms) terms = filter_terms(filter);
    if (search_terms_any(terms)) archive_scan_by_terms(scan, g_steal_pointer(&terms));

    g_autoptr(GError) failure = NULL;
    Candidate candidate;
    while (archive_scan_next(scan, &candidate.trace_id, &candidate.summary, &failure)) {
        if (has_enough(search, &candidate.summary)) {
            search->more = TRUE;
            break;
        }
        search->scanned++;
        if (!summary_fits(filter, &candidate.summary) || !shape_fits(filter, scan, candidate.summary.pattern)) continue;
        gboolean fits = TRUE;
        if (decode && !record_fits(filter, scan, &fits, error)) return FALSE;
        if (!fits) continue;
        if (!candidates_first_part(found, candidate.trace_id, &candidate.summary)) continue;
        candidate.key = sort_key(search, &candidate.summary);
        if (search->has_after && !candidate_is_behind(&candidate, &search->after)) continue;
        search->last_begin_ns = candidate.summary.begin_ns;
        candidates_add(found, &candidate);
        if (search->counts) trace_counts_add(search->counts, &candidate.summary);
        if (++search->matches == search->limit) search->page_scanned = search->scanned;
    }

    if (failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }

    if (search->matches > search->limit) search->more = TRUE;
    return TRUE;
}

/* The longest first: durations are looked through from the longest down, a power of two at a time, until there are
 * enough, so that nothing shorter can be among those asked for. */
static gboolean search_longest(Search *search, Candidates *found, GError **error) {
    TraceFilter *filter = &search->filter;
    const gint64 min_ns = filter->min_duration_ns, max_ns = filter->max_duration_ns;
    gint64 from_ns = (gint64)1 << DURATION_POWER_MAX;
    for (gboolean last = FALSE; !last; from_ns /= 2) {
        last = from_ns <= MAX(min_ns, NS_PER_MS);
        filter->min_duration_ns = last ? min_ns : from_ns;
        if (filter->min_duration_ns <= max_ns && !search_run(search, found, error)) return FALSE;
        if (search->more) return TRUE;
        filter->max_duration_ns = MIN(max_ns, filter->min_duration_ns - 1);
    }
    return TRUE;
}

static gboolean parse_search(const Asked *asked, Search *search, GError **error) {
    static const char *const sorts[] = {"begin_time_ns", "duration_ns", "spans", NULL};
    guint64 limit = 20;
    gboolean parsed = parse_filter(asked, &search->filter, error) &&
                      params_choice(asked->params, "sort", sorts, &search->sort, error) &&
                      params_count(asked->params, "limit", &limit, error);
    search->limit = limit ? MIN(limit, (guint64)asked->rows_max) : asked->rows_max;
    gboolean summary = FALSE;
    if (!parsed || !params_flag(asked->params, "summary", &summary, error) ||
        !parse_after(asked, summary, search, error))
        return FALSE;
    search->in_scan = search->sort == SORT_BEGIN && !summary;
    if (!summary) return TRUE;
    search->counts = trace_counts_new(asked, error);
    return search->counts != NULL;
}

/* A trace in one record: what the record's summary says holds. */
static json_t *whole_row(Archive *archive, const Candidate *candidate, GError **error) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    ArchiveLoad load = {.max_bytes = trace_view_room()};
    if (!archive_load_parts(archive, candidate->trace_id, &load, spans, error)) return NULL;
    RootFound found = find_root(spans);
    if (!allowance_check(error)) return NULL;
    json_t *row = row_json(archive, candidate, &found);
    add_more(row, &load);
    PatternId pattern;
    add_outcome(row, candidate->summary.orphans, candidate->summary.flags & TRACE_INCOMPLETE);
    if (archive_pattern_id(archive, candidate->summary.pattern, &pattern))
        json_object_set_new(row, "pattern", json_pattern_id(pattern));
    if (pattern_is_mixed(candidate->summary.pattern)) json_object_set_new(row, "rare", json_true());
    return row;
}

/* A trace in parts: parents are often in another part, so only the whole tells what is missing. */
static json_t *parts_row(Archive *archive, const Candidate *candidate, GError **error) {
    g_autoptr(TraceView) view = trace_view_load_from(archive, candidate->trace_id, 0, error);
    if (!view) return NULL;
    RootFound found = find_root(view->bytes);
    if (!allowance_check(error)) return NULL;
    json_t *row = row_json(archive, candidate, &found);
    add_more(row, &view->load);
    add_outcome(row, view->tree->counts.orphans, tree_incomplete(view->tree));
    json_object_set_new(row, "in_parts", json_true());
    return row;
}

static gboolean append_row(const TraceFilter *filter, const Candidate *candidate, json_t *list, GError **error) {
    g_autoptr(GError) failure = NULL;
    gboolean part = (candidate->summary.flags & TRACE_PART) != 0;
    json_auto_t *row =
        part ? parts_row(filter->archive, candidate, &failure) : whole_row(filter->archive, candidate, &failure);
    if (row) {
        const guint64 spans = (guint64)json_integer_value(json_object_get(row, "spans"));
        gboolean fits = !filter->incomplete || json_is_true(json_object_get(row, "incomplete"));
        if (spans < filter->min_spans || spans > filter->max_spans) fits = FALSE;
        if (fits) json_array_append(list, row);
        return TRUE;
    }
    if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE; /* gone since the scan */
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

json_t *answer_traces(const Asked *asked, GError **error) {
    Search search = {0};
    gboolean parsed = parse_search(asked, &search, error);
    g_auto(TraceFilter) filter = search.filter; /* owns what the search uses */
    g_autoptr(TraceCounts) counts = search.counts;
    if (!parsed) return NULL;
    const gboolean in_powers = search.sort == SORT_DURATION && !counts;
    g_autoptr(Candidates) found = candidates_new((guint)search.limit);
    if (can_match(&filter) && !(in_powers ? search_longest(&search, found, error) : search_run(&search, found, error)))
        return NULL;
    candidates_finish(found);
    if (found->list->len == 0 && !known_host(asked, error)) return NULL;

    json_auto_t *answer = json_object();
    json_t *list = json_array();
    json_object_set_new(answer, "scanned", json_count(search.scanned));
    json_object_set_new(answer, "more", json_boolean(search.more));
    if (search.more && found->list->len > 0)
        json_object_set_new(answer, "next",
                            cursor_json(&search, &g_array_index(found->list, Candidate, found->list->len - 1)));
    if (counts) json_object_set_new(answer, "counts", trace_counts_json(counts));
    json_object_set_new(answer, "traces", list);
    for (guint i = 0; i < found->list->len; i++) {
        if (!allowance_check(error) || !append_row(&filter, &g_array_index(found->list, Candidate, i), list, error))
            return NULL;
    }
    return g_steal_pointer(&answer);
}
