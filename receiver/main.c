/* plumbd: the command line. All else is in the library that tests link too. */
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/base/config.h"
#include "common/base/harmless.h"
#include "receiver/runner.h"
#include "receiver/settings.h"

static char *config_path = NULL;
static char **overrides = NULL;
static gboolean help_config = FALSE;
static gboolean show_version = FALSE;
static gboolean check_only = FALSE;

static const GOptionEntry entries[] = {
    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config_path, "read this configuration file", "FILE"},
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &overrides, "set one option, over the file; may repeat",
     "SECTION.KEY=VALUE"},
    {"help-config", 0, 0, G_OPTION_ARG_NONE, &help_config, "print a configuration file that documents every option",
     NULL},
    {"check-config", 0, 0, G_OPTION_ARG_NONE, &check_only, "read the configuration, say whether it is good, and end",
     NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &show_version, "print the version", NULL},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

static gboolean parse(int argc, char **argv, GError **error) {
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_option_context_set_summary(context, "Takes spans over Thrift, keeps them by trace as compressed call trees, and "
                                          "answers questions over HTTP.");
    g_option_context_set_description(context, "Example:\n  plumbd --config /etc/plumbline/plumbd.conf --set "
                                              "listen.thrift=127.0.0.1:9411\n\ndocs/plumbd.md says more.\n");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, error)) return FALSE;
    if (argc > 1) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "unexpected argument '%s'", argv[1]);
        return FALSE;
    }
    return TRUE;
}

static gboolean configure(Config *config, GError **error) {
    if (config_path && !config_load(config, config_path, error)) return FALSE;
    for (char **at = overrides; at && *at; at++)
        if (!config_override(config, *at, error)) return FALSE;
    return TRUE;
}

static gboolean check(const Config *config, GError **error) {
    g_autoptr(Settings) settings = settings_new(config, error);
    return settings != NULL;
}

/* Certificates, keys and tokens, too. */
static gboolean check_files(const Config *config, GError **error) {
    g_autoptr(Settings) settings = settings_new(config, error);
    g_autoptr(Security) security = settings != NULL ? security_new(&settings->security, error) : NULL;
    return security != NULL;
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, ""); /* --help has signs that are not of ASCII; numbers stay as they are */
    umask(0077); /* store, journal and what lies beside them hold paths and names of users: for this user alone */
    g_autoptr(GError) error = NULL;
    if (!parse(argc, argv, &error)) {
        fprintf(stderr, "plumbd: %s; plumbd --help lists the options\n", error->message);
        return 2;
    }

    if (show_version) {
        printf("plumbd %s\n", PLUMB_VERSION);
        return 0;
    }
    if (help_config) {
        g_autofree char *text = config_help(settings_table, "Configuration of plumbd");
        fputs(text, stdout);
        return 0;
    }

    g_autoptr(Config) config = config_new(settings_table);
    if (!configure(config, &error) || !(check_only ? check_files(config, &error) : check(config, &error))) {
        g_autofree char *line = harmless_line(error->message); /* the file's lines are in it */
        fprintf(stderr, "plumbd: %s\n", line);
        return 2;
    }
    if (check_only) {
        puts("the configuration is good");
        return 0;
    }

    return runner_run(config);
}
