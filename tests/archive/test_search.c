/* The search index: whatever is asked for, every record that has it is met, and few others. */
#include <string.h>

#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/index/postings.h"
#include "analyzer/archive/index/terms.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/read/search_terms.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "tests/archive/fixture.h"

#define TRACES  6000u
#define HOSTS   400u
#define TABLES  40u
#define BASE_NS (G_GINT64_CONSTANT(1605956400) * NS_PER_SEC) /* the begin of an hour */
#define SPAN_NS (5 * 3600 * NS_PER_SEC)

/* What the traces were made of; the file of trace i is "part-i". */
typedef struct Made {
    guint64 id;
    gint64 begin_ns, duration_ns;
    guint host, other_host, table, name;
    gboolean block; /* has the block "blk_i" */
} Made;

typedef struct Case {
    Fixture fixture;
    ArchiveWriter *writer;
    guint32 names[6], tracers[HOSTS], hosts[HOSTS], path_key, block_key;
    Made *made;
} Case;

static guint32 must_intern(Case *c, const char *text) {
    guint32 id = 0;
    g_assert_true(dict_intern(archive_dict(c->fixture.archive), text, strlen(text), &id, NULL));
    return id;
}

static void case_open(Case *c, gboolean rocksdb) {
    *c = (Case){.made = g_new0(Made, TRACES)};
    const ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS};
    fixture_open(&c->fixture, rocksdb, &options);
    for (guint i = 0; i < HOSTS; i++) {
        g_autofree char *host = g_strdup_printf("dn%u.example", i),
                        *tracer = g_strdup_printf("DataNode/dn%u.example", i);
        c->hosts[i] = must_intern(c, host);
        c->tracers[i] = must_intern(c, tracer);
    }
    for (guint i = 0; i < G_N_ELEMENTS(c->names); i++) {
        g_autofree char *name = g_strdup_printf("call%u", i);
        c->names[i] = must_intern(c, name);
    }
    c->path_key = must_intern(c, "path");
    c->block_key = must_intern(c, "block");
    c->writer = archive_writer_new(c->fixture.archive);
}

static void case_close(Case *c) {
    archive_writer_free(c->writer);
    fixture_assert_sound(&c->fixture);
    fixture_close(&c->fixture);
    g_free(c->made);
}

static void append_root(const Case *c, const Made *made, guint i, GByteArray *out) {
    SpanRec head = {.id = {made->id, 1}, .begin_ns = made->begin_ns, .duration_ns = made->duration_ns};
    head.name = c->names[made->name];
    head.tracer = c->tracers[made->host];
    SpanBuilder builder = span_builder_begin(out, &head);
    g_autofree char *path = g_strdup_printf("/warehouse/table%u/part-%u", made->table, i);
    g_autofree char *block = g_strdup_printf("blk_%u", i);
    span_builder_annotation(&builder, c->path_key, path, (guint32)strlen(path));
    span_builder_annotation(&builder, c->path_key, "12345", 5);
    if (made->block) span_builder_annotation(&builder, c->block_key, block, (guint32)strlen(block));
    span_builder_end(&builder);
}

static void append_child(const Case *c, const Made *made, GByteArray *out) {
    SpanRec head = {.id = {made->id, 2}, .begin_ns = made->begin_ns, .name = c->names[0]};
    head.tracer = c->tracers[made->other_host];
    SpanBuilder builder = span_builder_begin(out, &head);
    span_builder_parent(&builder, (SpanId){made->id, 1});
    span_builder_end(&builder);
}

/* Some traces come in two pieces, the later one in another group: their records are replaced. */
static void make_traces(Case *c, guint32 seed) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GArray) late = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint i = 0; i < TRACES; i++) {
        Made *made = &c->made[i];
        *made = (Made){.id = (guint64)g_rand_int(rand) << 32 | i, .table = (guint)g_rand_int_range(rand, 0, TABLES)};
        if (i % 4 == 0) made->id = (made->id & 0xffffffff) | G_GUINT64_CONSTANT(0x7777) << 48; /* one upper part */
        made->begin_ns = BASE_NS + (gint64)(g_rand_double(rand) * (double)SPAN_NS);
        made->duration_ns = (gint64)1 << g_rand_int_range(rand, 0, 40);
        made->host = (guint)g_rand_int_range(rand, 0, HOSTS);
        made->other_host = (guint)g_rand_int_range(rand, 0, HOSTS);
        made->name = i % 500 == 7 ? 5 : (guint)g_rand_int_range(rand, 1, 5);
        made->block = i % 3 == 0;

        g_byte_array_set_size(spans, 0);
        gboolean in_two = i % 10 == 3;
        if (!in_two) append_root(c, made, i, spans);
        append_child(c, made, spans);
        fixture_add(c->writer, spans);
        if (in_two) g_array_append_val(late, i);
        if (i % 1500 == 1499) fixture_commit(c->writer);
    }
    fixture_commit(c->writer);

    for (guint k = 0; k < late->len; k++) {
        guint i = g_array_index(late, guint, k);
        g_byte_array_set_size(spans, 0);
        append_root(c, &c->made[i], i, spans);
        fixture_add(c->writer, spans);
    }
    fixture_commit(c->writer);

    g_autoptr(GError) error = NULL;
    archive_join(c->fixture.archive, &error);
    g_assert_no_error(error);
}

/* What one search asks; -1: does not ask for it. */
typedef struct Asked {
    gint host, table, part, name, block;
    gint64 min_ns, max_ns;
    gint64 since_ns, until_ns;
} Asked;

static const Asked anything = {-1, -1, -1, -1, -1, 0, G_MAXINT64, BASE_NS, BASE_NS + SPAN_NS};

static gboolean fits(const Asked *asked, const Made *made, guint i) {
    if (made->begin_ns < asked->since_ns || made->begin_ns >= asked->until_ns) return FALSE;
    if (asked->host >= 0 && made->host != (guint)asked->host && made->other_host != (guint)asked->host) return FALSE;
    if (asked->table >= 0 && made->table != (guint)asked->table) return FALSE;
    if (asked->part >= 0 && i != (guint)asked->part) return FALSE;
    if (asked->name >= 0 && made->name != (guint)asked->name && asked->name != 0) return FALSE;
    if (asked->block >= 0 && (i != (guint)asked->block || !made->block)) return FALSE;
    return made->duration_ns >= asked->min_ns && made->duration_ns <= asked->max_ns;
}

static gboolean pattern_has(const Pattern *pattern, guint32 name) {
    for (guint32 i = 1; i < pattern->n_nodes; i++)
        if (pattern->nodes[i].name == name) return TRUE;
    return FALSE;
}

static SearchTerms *terms_of(const Case *c, const Asked *asked) {
    SearchTerms *terms = search_terms_new();
    char text[32];
    if (asked->host >= 0) search_terms_host(terms, c->hosts[asked->host]);
    if (asked->table >= 0) search_terms_component(terms, text, (gsize)g_snprintf(text, 32, "table%d", asked->table));
    if (asked->part >= 0) search_terms_component(terms, text, (gsize)g_snprintf(text, 32, "part-%d", asked->part));
    if (asked->block >= 0)
        search_terms_value(terms, c->block_key, text, (gsize)g_snprintf(text, 32, "blk_%d", asked->block));
    if (asked->min_ns > 0 || asked->max_ns < G_MAXINT64) search_terms_duration(terms, asked->min_ns, asked->max_ns);
    if (asked->name >= 0) {
        g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 n = 1; n <= archive_pattern_count(c->fixture.archive); n++)
            if (pattern_has(archive_pattern(c->fixture.archive, n), c->names[asked->name]))
                g_array_append_val(numbers, n);
        search_terms_patterns(terms, (const guint32 *)(gconstpointer)numbers->data, numbers->len);
    }
    return terms;
}

/* Every trace that fits is met, in order of time; returns how many records were met. */
static guint assert_found(const Case *c, const Asked *asked, gboolean newest_first) {
    g_autoptr(ArchiveScan) scan = archive_scan_new(c->fixture.archive, asked->since_ns, asked->until_ns, newest_first);
    archive_scan_by_terms(scan, terms_of(c, asked));
    g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);
    g_autoptr(GError) error = NULL;
    guint64 id;
    TraceSummary summary;
    gint64 before_ns = newest_first ? G_MAXINT64 : G_MININT64;
    guint records = 0;
    for (; archive_scan_next(scan, &id, &summary, &error); records++) {
        g_assert_true(newest_first ? summary.begin_ns <= before_ns : summary.begin_ns >= before_ns);
        g_assert_true(summary.begin_ns >= asked->since_ns && summary.begin_ns < asked->until_ns);
        before_ns = summary.begin_ns;
        g_assert_true(g_hash_table_add(met, GSIZE_TO_POINTER(id)));
    }
    g_assert_no_error(error);
    for (guint i = 0; i < TRACES; i++)
        if (fits(asked, &c->made[i], i)) g_assert_true(g_hash_table_contains(met, GSIZE_TO_POINTER(c->made[i].id)));
    return records;
}

static void run_searches(gboolean rocksdb) {
    Case c;
    case_open(&c, rocksdb);
    make_traces(&c, 42);
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);

    for (guint round = 0; round < 200; round++) {
        Asked asked = anything;
        guint i = (guint)g_rand_int_range(rand, 0, TRACES), what = (guint)g_rand_int_range(rand, 1, 64);
        if (what & 1) asked.host = (gint)(round % 2 ? c.made[i].host : c.made[i].other_host);
        if (what & 2) asked.table = (gint)c.made[i].table;
        if (what & 4) asked.part = (gint)i;
        if (what & 8) asked.name = g_rand_int_range(rand, 0, 6);
        if (what & 16) asked.block = (gint)i;
        if (what & 32) asked.min_ns = c.made[i].duration_ns - (gint64)(round % 3);
        if (round % 5 == 0) asked.max_ns = c.made[i].duration_ns;
        if (round % 4 == 0) asked.since_ns = BASE_NS + (gint64)(g_rand_double(rand) * (double)SPAN_NS);
        if (round % 7 == 0) asked.until_ns = asked.since_ns + NS_PER_SEC * 1000;

        assert_found(&c, &asked, round % 3 != 0);
    }

    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void test_memory(void) { run_searches(FALSE); }
static void test_rocksdb(void) { run_searches(TRUE); }

/* What is asked for is found without meeting much else. */
static void test_narrow(void) {
    Case c;
    case_open(&c, FALSE);
    make_traces(&c, 1);

    Asked file = anything, host = anything, name = anything, longest = anything, both = anything;
    file.part = 4000;
    host.host = 17;
    name.name = 5;
    longest.min_ns = (gint64)1 << 39;
    both.table = 3;
    both.host = 17;

    g_assert_cmpuint(assert_found(&c, &file, TRUE), <=, 3);
    g_assert_cmpuint(assert_found(&c, &host, TRUE), <=, 60); /* 30 have it */
    g_assert_cmpuint(assert_found(&c, &name, TRUE), <=, 30); /* 12 have it */
    g_assert_cmpuint(assert_found(&c, &longest, TRUE), <=, 400);
    g_assert_cmpuint(assert_found(&c, &both, TRUE), <=, 10);

    Asked nowhere = anything;
    nowhere.part = (gint)TRACES + 5;
    g_assert_cmpuint(assert_found(&c, &nowhere, TRUE), <=, 2);
    case_close(&c);
}

/* A trace of so many spans, each with as many paths of its own: "/many/SPAN-PATH". */
static guint64 add_many(Case *c, guint n_spans, guint n_paths) {
    SpanRec head = {.id = {G_GUINT64_CONSTANT(0xabcdef0000000001), 1}, .begin_ns = BASE_NS + 5, .name = c->names[1]};
    head.tracer = c->tracers[0];
    g_autoptr(GByteArray) spans = g_byte_array_new();
    for (guint i = 0; i < n_spans; i++) {
        head.id.span = i + 1;
        SpanBuilder builder = span_builder_begin(spans, &head);
        for (guint k = 0; k < n_paths; k++) {
            char path[32];
            gint length = g_snprintf(path, sizeof path, "/many/%u-%u", i, k);
            span_builder_annotation(&builder, c->path_key, path, (guint32)length);
        }
        span_builder_end(&builder);
    }
    fixture_add(c->writer, spans);
    fixture_commit(c->writer);
    return head.id.trace;
}

/* Is that trace the first to be met in its second by who looks for the component and for host 0? */
static gboolean many_met(const Case *c, guint64 trace, const char *component) {
    g_autoptr(ArchiveScan) scan = archive_scan_new(c->fixture.archive, BASE_NS, BASE_NS + NS_PER_SEC, TRUE);
    SearchTerms *terms = search_terms_new();
    search_terms_component(terms, component, strlen(component));
    search_terms_host(terms, c->hosts[0]);
    archive_scan_by_terms(scan, terms);
    guint64 id = 0;
    TraceSummary summary;
    g_autoptr(GError) error = NULL;
    gboolean met = archive_scan_next(scan, &id, &summary, &error) && id == trace;
    g_assert_no_error(error);
    return met;
}

/* A record with more terms than its table remembers has them all in the index, and no others. */
static void test_many_terms(void) {
    Case c;
    case_open(&c, FALSE);
    make_traces(&c, 2);
    guint64 trace = add_many(&c, 40, 1000);
    for (guint i = 0; i < 40; i++) {
        g_autofree char *component = g_strdup_printf("%u-%u", i, i * 7);
        g_assert_true(many_met(&c, trace, component));
    }
    g_assert_true(many_met(&c, trace, "many"));
    for (guint i = 0; i < 40; i++) {
        g_autofree char *component = g_strdup_printf("none-%u", i);
        g_assert_false(many_met(&c, trace, component));
    }
    case_close(&c);
}

/* A record with more terms than are listed is met whatever is asked for. */
static void test_too_many_terms(void) {
    Case c;
    case_open(&c, FALSE);
    make_traces(&c, 2);
    guint64 trace = add_many(&c, TERMS_PER_RECORD / 1000 + 1, 1000);
    g_assert_true(many_met(&c, trace, "19-999"));
    g_assert_true(many_met(&c, trace, "none"));
    case_close(&c);
}

/* ---- values that are much alike ---- */

#define ALIKE_TRACES 48u /* few enough for no term to be frequent */
#define ALIKE_VALUES 60u

/* The begin of the one before, or of a path, a URI or a plain value, and some letters more. */
static char *alike_value(GRand *rand, const char *before) {
    static const char *const begins[] = {"/", "hdfs://nn:8020/", "hdfs://nn/", "", "viewfs:///", "nn"};
    gboolean anew = before == NULL || g_rand_int_range(rand, 0, 4) == 0;
    GString *value = g_string_new(anew ? begins[g_rand_int_range(rand, 0, G_N_ELEMENTS(begins))] : before);
    if (!anew) g_string_truncate(value, (gsize)g_rand_int_range(rand, 0, (gint)value->len + 1));
    for (gint more = g_rand_int_range(rand, 0, 12); more > 0; more--)
        g_string_append_c(value, "abcdefgh//"[g_rand_int_range(rand, 0, 10)]);
    return g_string_free(value, FALSE);
}

static gboolean meets(const Case *c, SearchTerms *terms, guint64 wanted) {
    g_autoptr(ArchiveScan) scan = archive_scan_new(c->fixture.archive, BASE_NS, BASE_NS + NS_PER_SEC, TRUE);
    archive_scan_by_terms(scan, terms);
    g_autoptr(GError) error = NULL;
    guint64 id;
    TraceSummary summary;
    gboolean met = FALSE;
    while (!met && archive_scan_next(scan, &id, &summary, &error)) met = id == wanted;
    g_assert_no_error(error);
    return met;
}

static void assert_value_met(const Case *c, guint64 trace, guint32 key, const char *value) {
    gsize length = strlen(value), part_length;
    const char *at = path_begin(value, length), *part;
    if (at == NULL && term_value_has(value, length)) {
        SearchTerms *terms = search_terms_new();
        search_terms_value(terms, key, value, length);
        g_assert_true(meets(c, terms, trace));
    }
    while (at != NULL && path_next(&at, value + length, &part, &part_length)) {
        SearchTerms *terms = search_terms_new();
        search_terms_component(terms, part, part_length);
        g_assert_true(meets(c, terms, trace));
    }
}

/* What a value has in common with the one before it is not looked at again; nothing gets lost by it. */
static void test_alike(void) {
    Case c;
    case_open(&c, FALSE);
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < ALIKE_TRACES; i++) {
        g_autoptr(GByteArray) spans = g_byte_array_new();
        SpanRec head = {.id = {i + 1, 1}, .begin_ns = BASE_NS + i, .name = c.names[1], .tracer = c.tracers[i]};
        SpanBuilder builder = span_builder_begin(spans, &head);
        g_autofree char *path_value = NULL, *block_value = NULL;

        /* Few values, so that a component of one trace often is in no other value of it. */
        for (guint k = 0; k < 1 + i * (ALIKE_VALUES - 1) / (ALIKE_TRACES - 1); k++) {
            gboolean path = k % 3 != 0;
            char **value = path ? &path_value : &block_value, *next = alike_value(rand, *value);
            g_free(*value);
            *value = next;
            span_builder_annotation(&builder, path ? c.path_key : c.block_key, next, (guint32)strlen(next));
        }

        span_builder_end(&builder);
        fixture_add(c.writer, spans);
        g_ptr_array_add(values, g_byte_array_free(g_steal_pointer(&spans), FALSE));
    }
    fixture_commit(c.writer);

    for (guint i = 0; i < ALIKE_TRACES; i++) {
        SpanCursor cursor = span_cursor(g_ptr_array_index(values, i));
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation)) {
            g_autofree char *value = g_strndup(annotation.value, annotation.length);
            assert_value_met(&c, i + 1, annotation.key, value);
        }
    }
    case_close(&c);
}

static void no_point(void *arg, guint32 second, guint16 id_upper) {
    (void)second;
    (void)id_upper;
    *(guint *)arg += 1;
}

static void no_seconds(void *arg, guint32 from, guint32 until) { *(guint *)arg += 1 + until - from; }

static void test_damage(void) {
    guint visited = 0;
    const PostingVisitor visitor = {no_point, no_seconds, NULL, &visited};
    g_autoptr(GArray) rests = g_array_new(FALSE, FALSE, sizeof(guint16));
    g_array_append_vals(rests, &(guint16){5}, 1);
    static const guint8 good[] = {0, 5, 2, 10, 1, 2, 0, 3, 4, 0, 6, 0, 1, 1};
    g_assert_true(postings_visit((Bytes){good, sizeof good}, 3, rests, &visitor));
    g_assert_cmpuint(visited, ==, 2);
    for (gsize n = 1; n < sizeof good; n++) {
        gboolean enough = n == 9 || n >= 11; /* what lies behind is no concern of who looks for 5 */
        g_assert_true(postings_visit((Bytes){good, n}, 3, rests, &visitor) == enough);
    }
    static const guint8 beyond[] = {0, 5, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0};
    g_assert_false(postings_visit((Bytes){beyond, sizeof beyond}, 3, rests, &visitor));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/archive/search/memory", test_memory);
    g_test_add_func("/archive/search/rocksdb", test_rocksdb);
    g_test_add_func("/archive/search/narrow", test_narrow);
    g_test_add_func("/archive/search/many-terms", test_many_terms);
    g_test_add_func("/archive/search/too-many-terms", test_too_many_terms);
    g_test_add_func("/archive/search/alike", test_alike);
    g_test_add_func("/archive/search/damage", test_damage);
    return g_test_run();
}
