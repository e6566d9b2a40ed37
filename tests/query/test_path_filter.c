/* What a path asked for finds. */
#include <string.h>

#include "analyzer/archive/read/search_terms.h"
#include "analyzer/query/shared/path_filter.h"

static const struct {
    const char *asked, *value;
    gboolean fits;
} cases[] = {
    {"/a/b", "/a/b", TRUE},
    {"/a/b", "/a/b/c", TRUE},
    {"/a/b/", "/a/b", TRUE},
    {"//a///b", "/a//b", TRUE},
    {"/a/b", "/a/bc", FALSE},
    {"/a/b", "/x/a/b", FALSE},
    {"/a/b", "/a", FALSE},
    {"a/b", "/x/a/b/y", TRUE},
    {"a/b", "/x/a/a/b", TRUE},
    {"a/b", "/x/a/y/b", FALSE},
    {"b", "/a/b", TRUE},
    {"b", "/a/bb", FALSE},
    {"b", "b", FALSE}, /* no path */
    {"b", "", FALSE},
    {"b", "12/b", FALSE},
    {"part-*", "/t/part-00001", TRUE},
    {"part-*", "/t/part-", TRUE},
    {"part-*", "/t/part", FALSE},
    {"*1*.gz", "/t/a1b.gz", TRUE},
    {"*1*.gz", "/t/ab.gz", FALSE},
    {"*1*1", "/t/1a11", TRUE},
    {"a*/x", "/t/abc/x", TRUE},
    {"a*/x", "/t/a/b/x", FALSE}, /* a star stays in its component */
    {"*", "/", FALSE},
    {"/*/b", "/a/b", TRUE},
    {"/*/b", "/b", FALSE},
    {"/a", "hdfs://nn:8020/a/b", TRUE},
    {"a", "hdfs://nn:8020/x/a", TRUE},
    {"nn:8020", "hdfs://nn:8020/x/a", FALSE}, /* the authority is no component */
    {"hdfs://nn:8020/x", "/x/a", TRUE},
    {"a", "hdfs://nn:8020", FALSE},
    {"\xc3\xbc", "/\xc3\xbc", TRUE},
};

static void test_fits(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(PathFilter) filter = path_filter_new(cases[i].asked);
        g_assert_nonnull(filter);
        if (path_filter_fits(filter, cases[i].value, strlen(cases[i].value)) != cases[i].fits)
            g_error("%s %s %s", cases[i].asked, cases[i].fits ? "does not find" : "finds", cases[i].value);
    }
}

static void test_nothing(void) {
    g_assert_null(path_filter_new(""));
    g_assert_null(path_filter_new("/"));
    g_assert_null(path_filter_new("///"));
    g_assert_null(path_filter_new("hdfs://nn/"));
}

/* Components with a star cannot be looked up. */
static void test_terms(void) {
    static const struct {
        const char *asked;
        gboolean any;
    } rows[] = {{"/a/b", TRUE}, {"a*", FALSE}, {"/a/*", TRUE}, {"*/*", FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(PathFilter) filter = path_filter_new(rows[i].asked);
        g_autoptr(SearchTerms) terms = search_terms_new();
        path_filter_terms(filter, terms);
        g_assert_cmpint(search_terms_any(terms), ==, rows[i].any);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/path-filter/fits", test_fits);
    g_test_add_func("/query/path-filter/nothing", test_nothing);
    g_test_add_func("/query/path-filter/terms", test_terms);
    return g_test_run();
}
