/* Spans with one id and different content: which of them stays does not depend on which came first, nor on which of
 * their names the dictionary saw first. */
#include "analyzer/archive/archive_inside.h"
#include "tests/archive/case.h"

#define TRACE    1u
#define CONFLICT 3u

static void intern(Case *c, const char *text, guint32 *id) {
    g_autoptr(GError) error = NULL;
    dict_intern(archive_dict(c->fixture.archive), text, strlen(text), id, &error);
    g_assert_no_error(error);
}

/* Below span 2. */
static void append_conflict(Case *c, GByteArray *spans, const char *name) {
    TestSpan span = {TRACE, CONFLICT, CONFLICT - 1, 0, c->world.tracers[0], BASE_NS + CONFLICT * NS_PER_MS, NS_PER_SEC};
    intern(c, name, &span.name);
    test_span_append(spans, &span);
}

static void append_chain(Case *c, GByteArray *spans, guint first, guint last) {
    const GByteArray *links = chain(c, TRACE, first, last);
    g_byte_array_append(spans, links->data, links->len);
}

static void assert_stays(Case *c, const char *expected) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    guint found = 0;
    g_assert_true(fixture_load(c->fixture.archive, TRACE, spans, &error));
    for (gsize at = 0; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        at += span->size_bytes;
        if (span->id.span != CONFLICT) continue;
        g_assert_cmpstr(dict_text(archive_dict(c->fixture.archive), span->name, NULL), ==, expected);
        found++;
    }
    g_assert_cmpuint(found, ==, 1);
}

typedef void (*Arrive)(Case *c, const char *first, const char *second);

/* What a shard holds of an open trace. */
static void arrive_open(Case *c, const char *first, const char *second) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    append_chain(c, spans, 1, 2);
    append_conflict(c, spans, first);
    append_chain(c, spans, 4, 5);
    append_conflict(c, spans, second);
    fixture_add(c->writer, spans);
}

/* Both after their trace was stored, in batches of their own. */
static void arrive_late(Case *c, const char *first, const char *second) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    append_chain(c, spans, 1, 2);
    append_chain(c, spans, 4, 5);
    fixture_add(c->writer, spans);

    const char *names[] = {first, second};
    for (guint i = 0; i < 2; i++) {
        fixture_commit(c->writer);
        g_byte_array_set_size(spans, 0);
        append_conflict(c, spans, names[i]);
        fixture_add(c->writer, spans);
    }
}

/* The least text stays: seen while the spans wait, and in what is stored. known: what the dictionary has before. */
static GPtrArray *outcome(Arrive arrive, const char *const known[2], const char *first, const char *second) {
    Case c;
    guint32 id;
    case_open(&c, FALSE, 0);
    for (guint i = 0; i < 2; i++) intern(&c, known[i], &id);
    arrive(&c, first, second);
    fixture_commit(c.writer);
    assert_stays(&c, "aaa");
    commit_and_join(&c);

    assert_stays(&c, "aaa");
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, 5);
    g_assert_cmpuint(archive_totals(c.fixture.archive).duplicates, ==, 1);
    fixture_assert_sound(&c.fixture);
    GPtrArray *dump = fixture_dump(&c.fixture);
    case_close(&c);
    return dump;
}

static void test_orders(void) {
    static const Arrive arrivals[] = {arrive_open, arrive_late};
    static const char *const dictionaries[][2] = {{"aaa", "zzz"}, {"zzz", "aaa"}};
    for (guint i = 0; i < G_N_ELEMENTS(arrivals); i++) {
        for (guint d = 0; d < G_N_ELEMENTS(dictionaries); d++) {
            g_autoptr(GPtrArray) there = outcome(arrivals[i], dictionaries[d], "aaa", "zzz");
            g_autoptr(GPtrArray) back = outcome(arrivals[i], dictionaries[d], "zzz", "aaa");
            assert_same_dump(there, back);
        }
    }
}

/* What is stored stays: functions' statistics only ever grow. */
static void test_what_is_stored_stays(void) {
    Case c;
    case_open(&c, FALSE, 0);
    g_autoptr(GByteArray) spans = g_byte_array_new();
    append_chain(&c, spans, 1, 2);
    append_conflict(&c, spans, "zzz");
    fixture_add(c.writer, spans);
    fixture_commit(c.writer);

    g_byte_array_set_size(spans, 0);
    append_conflict(&c, spans, "aaa");
    fixture_add(c.writer, spans);
    commit_and_join(&c);
    assert_stays(&c, "zzz");
    g_assert_cmpuint(archive_totals(c.fixture.archive).duplicates, ==, 1);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/conflicts/orders", test_orders);
    g_test_add_func("/conflicts/stored", test_what_is_stored_stays);
    return g_test_run();
}
