#include <string.h>

#include "common/base/error.h"
#include "common/model/naming.h"
#include "common/model/role.h"

static void test_tracer_ids(void) {
    static const struct {
        const char *text, *process, *host;
        gint64 pid;
        Role role;
    } cases[] = {
        {"DataNode/10.0.3.17", "DataNode", "10.0.3.17", -1, ROLE_DATANODE},
        {"DataNode/10.0.3.17/4242", "DataNode", "10.0.3.17", 4242, ROLE_DATANODE},
        {"datanode/10.0.3.17", "datanode", "10.0.3.17", -1, ROLE_DATANODE},
        {"NameNode/nn1.example.org/1", "NameNode", "nn1.example.org", 1, ROLE_NAMENODE},
        {"JournalNode/fe80::1%eth0/77", "JournalNode", "fe80::1%eth0", 77, ROLE_JOURNALNODE},
        {"FSClient/10.0.0.5/9", "FSClient", "10.0.0.5", 9, ROLE_CLIENT},
        {"FsShell/10.0.0.5", "FsShell", "10.0.0.5", -1, ROLE_CLIENT},
        {"MyJob/10.0.0.5", "MyJob", "10.0.0.5", -1, ROLE_CLIENT},
        {"MyJob", "MyJob", "", -1, ROLE_LOCAL},
        {"DataNode", "DataNode", "", -1, ROLE_DATANODE},
        {"", "", "", -1, ROLE_LOCAL},
        {"/", "/", "", -1, ROLE_LOCAL},
        {"/10.0.0.1", "/10.0.0.1", "", -1, ROLE_LOCAL},
        {"DataNode/", "DataNode/", "", -1, ROLE_LOCAL},
        {"A/host/12x", "A", "host/12x", -1, ROLE_CLIENT},
        {"A/host/", "A", "host/", -1, ROLE_CLIENT},
        {"A/host/99999999999", "A", "host/99999999999", -1, ROLE_CLIENT},
        {"A//5", "A", "/5", -1, ROLE_CLIENT},
        {"A/b/c/5", "A", "b/c", 5, ROLE_CLIENT},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].text);
        TracerId id = tracer_id_parse(cases[i].text, strlen(cases[i].text));
        g_assert_cmpmem(id.process, id.process_length, cases[i].process, strlen(cases[i].process));
        g_assert_cmpmem(id.host, id.host_length, cases[i].host, strlen(cases[i].host));
        g_assert_cmpint(id.pid, ==, cases[i].pid);
        g_assert_cmpstr(role_name(id.role), ==, role_name(cases[i].role));
    }
}

static void test_role_names(void) {
    for (guint i = 0; i < ROLE_COUNT; i++) {
        Role role = ROLE_COUNT;
        g_assert_true(role_parse(role_name((Role)i), &role));
        g_assert_cmpint(role, ==, (int)i);
    }
    Role untouched = ROLE_CLIENT;
    g_assert_false(role_parse("worker", &untouched));
    g_assert_cmpint(untouched, ==, ROLE_CLIENT);
}

static void test_naming(void) {
    static const struct {
        const char *description, *name, *key, *number;
    } cases[] = {
        {"sendBlock_1073741825", "sendBlock", "sendBlock_{n}", "1073741825"},
        {"sendBlock_-9", "sendBlock", "sendBlock_{n}", "-9"},
        {"sendBlock_007", "sendBlock", "sendBlock_{n}", "007"},
        {"sendBlock_", "sendBlock_", NULL, NULL},
        {"sendBlock_-", "sendBlock_-", NULL, NULL},
        {"sendBlock_12a", "sendBlock_12a", NULL, NULL},
        {"sendBlock_1 ", "sendBlock_1 ", NULL, NULL},
        {"xsendBlock_1", "xsendBlock_1", NULL, NULL},
        {"BlockReaderLocal#fillBuffer(5)", "BlockReaderLocal#fillBuffer", "BlockReaderLocal#fillBuffer({n})", "5"},
        {"BlockReaderLocal#fillBuffer(5", "BlockReaderLocal#fillBuffer(5", NULL, NULL},
        {"BlockReaderLocal#fillBuffer()", "BlockReaderLocal#fillBuffer()", NULL, NULL},
        {"BlockReaderRemote2#readNextPacket(65536)", "BlockReaderRemote2#readNextPacket",
         "BlockReaderRemote2#readNextPacket({n})", "65536"},
        {"BlockReaderRemote#readChunk(42)", "BlockReaderRemote#readChunk", "BlockReaderRemote#readChunk({n})", "42"},
        {"hedgedRead3", "hedgedRead", "hedgedRead{n}", "3"},
        {"ClientProtocol#getBlockLocations", "ClientProtocol#getBlockLocations", NULL, NULL},
        {"", "", NULL, NULL},
    };

    g_autoptr(NamingRules) rules = naming_rules_new(naming_default_templates, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *text = cases[i].description;
        g_test_message("%s", text);
        NormalName normal = naming_normalise(rules, text, strlen(text));
        g_assert_cmpmem(normal.name, normal.name_length, cases[i].name, strlen(cases[i].name));
        g_assert_cmpstr(normal.key, ==, cases[i].key);
        if (normal.key == NULL) continue;

        g_assert_cmpmem(normal.number, normal.number_length, cases[i].number, strlen(cases[i].number));
        gsize key_length = strlen(normal.key);
        g_assert_true(naming_is_template(normal.key, key_length));
        g_autoptr(GString) restored = g_string_new("> ");
        g_assert_true(naming_restore(normal.key, key_length, normal.number, normal.number_length, restored));
        g_assert_cmpstr(restored->str + 2, ==, text);
    }
}

static void test_templates(void) {
    static const struct {
        const char *template;
        gboolean ok;
    } cases[] = {
        {"a{n}", TRUE}, {"a_{n}b", TRUE}, {"{n}", FALSE},  {"{n}a", FALSE},     {"_{n}", FALSE},
        {"a", FALSE},   {"", FALSE},      {"a{m}", FALSE}, {"a{n}b{n}", FALSE}, {"a {n}", TRUE},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *template = cases[i].template;
        const char *templates[] = {"ok_{n}", template, NULL};
        g_autoptr(GError) error = NULL;
        g_autoptr(NamingRules) rules = naming_rules_new(templates, &error);
        g_assert_cmpint(rules != NULL, ==, cases[i].ok);
        g_assert_cmpint(naming_is_template(template, strlen(template)), ==, cases[i].ok);
        if (cases[i].ok) {
            g_assert_no_error(error);
            continue;
        }
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
        g_autofree char *quoted = g_strdup_printf("'%s'", template);
        g_assert_nonnull(strstr(error->message, quoted));
    }
}

static void test_first_rule_wins(void) {
    const char *templates[] = {"read_{n}", "read_{n}", "read{n}", NULL};
    g_autoptr(NamingRules) rules = naming_rules_new(templates, NULL);
    g_assert_cmpstr(naming_normalise(rules, "read_5", 6).key, ==, "read_{n}");
    g_assert_cmpstr(naming_normalise(rules, "read5", 5).key, ==, "read{n}");
    /* The text need not end in a zero. */
    g_assert_cmpuint(naming_normalise(rules, "read_567", 6).number_length, ==, 1);
}

static void test_restore_refuses(void) {
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_false(naming_restore("a_{n}", 5, "12x", 3, out));
    g_assert_false(naming_restore("a_{n}", 5, "", 0, out));
    g_assert_false(naming_restore("plain", 5, "12", 2, out));
    g_assert_cmpuint(out->len, ==, 0);
}

static void test_fold(void) {
    static const struct {
        const char *name, *folded;
    } cases[] = {
        {"", ""},
        {"FileSystem#open", "FileSystem#open"},
        {"read 12", "read #"},
        {"op12x345", "op#x#"},
        {"7", "#"},
        {"task_1_22", "task_#_#"},
        {"550e8400-e29b-41d4-a716-446655440000", "#-#-#-#-#"},
        {"block deadbeef", "block deadbeef"}, /* a word, for all we know */
        {"block deadbee0", "block #"},
        {"a1", "a#"}, /* too short for an id */
        {"\xc3\xa4 1", "\xc3\xa4 #"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        char folded[64];
        gsize length = naming_fold(cases[i].name, strlen(cases[i].name), folded);
        g_assert_cmpmem(folded, length, cases[i].folded, strlen(cases[i].folded));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/role/tracer-ids", test_tracer_ids);
    g_test_add_func("/role/names", test_role_names);
    g_test_add_func("/naming/normalise", test_naming);
    g_test_add_func("/naming/templates", test_templates);
    g_test_add_func("/naming/first-wins", test_first_rule_wins);
    g_test_add_func("/naming/fold", test_fold);
    g_test_add_func("/naming/restore-refuses", test_restore_refuses);
    return g_test_run();
}
