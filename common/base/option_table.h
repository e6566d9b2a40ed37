/* One row of the table that describes a program's configuration (config.h). */
#pragma once

#include <glib.h>

typedef enum {
    CONFIG_BOOL,     /* true|false|yes|no|on|off|1|0 */
    CONFIG_INT,      /* decimal, may be negative */
    CONFIG_SIZE,     /* bytes: 4096, 64K, 16M, 2G, 1T (powers of 1024; "KiB", "MB", ... mean the same) */
    CONFIG_DURATION, /* 200us, 500ms, 10s, 5m, 2h, 7d; kept as nanoseconds; only 0 needs no unit */
    CONFIG_STRING,
    CONFIG_ENUM, /* one of ConfigOption.choices */
    CONFIG_LIST, /* strings with ';' between; blanks around and empty ones do not count */
} ConfigType;

typedef struct ConfigOption {
    const char *name; /* "section.key"; options of one section stand together in the table */
    ConfigType type;
    const char *fallback; /* the default, as a user would write it */
    gint64 min, max;      /* of INT, SIZE (bytes) and DURATION (ns), both allowed; both 0: no bounds but the type's */
    const char *choices;  /* of ENUM: "journal|fsync|memory" */
    gboolean reloadable;  /* takes effect on reload; else the program must be started anew */
    const char *help;     /* sentences, broken into lines by --help-config */
} ConfigOption;
