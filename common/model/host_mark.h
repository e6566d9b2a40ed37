/* What is known of hosts beside their samples; as of spark.h. */
#pragma once

#include <glib.h>

/* Something that was done, on one host or on all: a fault that was made, a deployment. A record with the same host,
 * begin and kind replaces it, so that what still lasts may get its end later. */
typedef struct HostMark {
    const char *host;        /* MARK_ALL_HOSTS: all */
    gint64 begin_ns, end_ns; /* end -1: a moment */
    const char *kind;        /* "fault", "deployment", ... */
    const char *text;
} HostMark;
#define MARK_ALL_HOSTS "*"
