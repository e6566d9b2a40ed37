/* Values of a configuration as text: sizes, durations, numbers, and how they are shown to people. */
#pragma once

#include "common/base/option_table.h"

/* FALSE leaves the result untouched: not of the form, or outside 64 bits. Blanks around are ignored. */
gboolean size_parse(const char *text, gint64 *size_bytes); /* for tests */
gboolean duration_parse(const char *text, gint64 *duration_ns);

/* The shortest exact form that the parsers take: "64M", "1536K", "100"; "2h", "1500ms", "1001ns". */
char *size_format(gint64 size_bytes);
char *duration_format(gint64 duration_ns);

/* One option's value, parsed. */
typedef struct ConfigValue {
    char *text;    /* as written, without blanks around */
    gint64 number; /* of all but STRING and LIST; of ENUM: position in choices */
    char **list;   /* of LIST */
} ConfigValue;

void config_value_clear(ConfigValue *value);
/* Checks form, bounds and choices. 'where' begins the error message: a file name or "--set". */
gboolean config_value_parse(const ConfigOption *option, const char *text, const char *where, ConfigValue *value,
                            GError **error);
/* What the option takes, for messages and help: "a size from 1M to 4G". */
char *config_value_allowed(const ConfigOption *option);
