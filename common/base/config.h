/* The configuration of a program: one table of options drives defaults, the key file, --set, --help-config, error
 * messages and what a reload may change.
 *
 * Values come from, in rising order: the table's defaults, one GLib key file (sections and keys, '#' starts a comment
 * line), and overrides ("section.key=value", from --set), which also win over the file when it is reloaded. Unknown
 * sections and keys are errors that name the nearest known one: a mistyped key never silently means the default.
 *
 * A Config belongs to one thread: others are handed the values they need. Every error is PLUMB_ERROR_CONFIG, but
 * PLUMB_ERROR_IO for a file that cannot be read. */
#pragma once

#include "common/base/option_table.h"

typedef struct Config Config;

/* The table ends with a NULL name and outlives the Config; a default that does not fit its option ends the process. */
Config *config_new(const ConfigOption *options);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* Takes the values of a file, which config_reload() will read again. On error the Config is as before. */
gboolean config_load(Config *config, const char *path, GError **error);
/* Takes one override, "section.key=value". On error the Config is as before. */
gboolean config_override(Config *config, const char *assignment, GError **error);

/* Getters end the process when the table has no such option of that type: it is a mistake in the program. Texts and
 * lists are borrowed and valid until the option changes. */
gboolean config_bool(const Config *config, const char *name);
gint64 config_int(const Config *config, const char *name);
gsize config_size_bytes(const Config *config, const char *name);
gint64 config_duration_ns(const Config *config, const char *name);
const char *config_string(const Config *config, const char *name);
guint config_enum(const Config *config, const char *name); /* position in choices, from 0 */
const char *const *config_list(const Config *config, const char *name);

/* Reads the file of config_load() again (no file: only says that nothing changed). Options that are reloadable take
 * their new values and are named in 'changed'; others keep the old ones and are named in 'need_restart'. Both arrays
 * (of borrowed const char *) may be NULL. On error the Config is as before. */
gboolean config_reload(Config *config, GPtrArray *changed, GPtrArray *need_restart, GError **error);

/* A sample file that documents every option; all values are commented out, so that it loads as the defaults. */
char *config_help(const ConfigOption *options, const char *title);
