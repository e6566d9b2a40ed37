/* The text of /metrics: Prometheus's format 0.0.4, or OpenMetrics 1.0, which can carry exemplars. */
#pragma once

#include <glib.h>

typedef struct Exposition {
    GString *text;
    gboolean open_metrics;
} Exposition;

/* name: without "plumbd_". Of counters it ends in "_total", which OpenMetrics has in the samples alone. */
void exposition_head(Exposition *out, const char *name, const char *type, const char *help);
/* A label's value, which may come from peers: escaped, and what is not UTF-8 replaced. */
void exposition_label(Exposition *out, const char *text);
/* Nanoseconds as seconds, exact. */
void exposition_seconds(Exposition *out, guint64 ns);
void exposition_number(Exposition *out, guint64 number);
/* After the last line. */
void exposition_end(Exposition *out);
