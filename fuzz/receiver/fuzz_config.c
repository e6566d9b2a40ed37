/* A configuration file; the first byte chooses the table: plumbd's, with what is made of its values, or that of plumb's
 * analysis file. It is taken, or refused with a message. */
#define _GNU_SOURCE /* memfd_create() */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/cli/commands/analysis.h"
#include "fuzz/target.h"
#include "receiver/settings.h"

static void check_error(gboolean done, const GError *error) {
    g_assert_true(done == (error == NULL));
    if (error != NULL) g_assert_true(error->message[0] != '\0');
}

static void load_plumbd(const char *path) {
    g_autoptr(Config) config = config_new(settings_table);
    g_autoptr(GError) error = NULL, reload_error = NULL;
    const gboolean loaded = config_load(config, path, &error);
    check_error(loaded, error);
    if (!loaded) return;
    g_autoptr(Settings) settings = settings_new(config, &error);
    check_error(settings != NULL, error);
    /* The same again: nothing changes. */
    g_autoptr(GPtrArray) changed = g_ptr_array_new();
    g_assert_true(config_reload(config, changed, NULL, &reload_error));
    g_assert_cmpuint(changed->len, ==, 0);
}

static void load_analysis(const char *path) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Analysis) analysis = analysis_load(path, &error);
    check_error(analysis != NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const int fd = memfd_create("fuzz_config", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, data + 1, size - 1), ==, (gssize)size - 1);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    if (data[0] & 1)
        load_analysis(path);
    else
        load_plumbd(path);
    close(fd);
    return 0;
}
