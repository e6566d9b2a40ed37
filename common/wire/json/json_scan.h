/* Finds where one JSON object ends, in bytes that come in pieces, and notices at the first possible byte that what was
 * begun cannot become JSON (processes that share a trace file cut each other's values). What it lets through is still
 * to be parsed: numbers, escapes and UTF-8 are not checked here. */
#pragma once

#include <glib.h>

/* Spans nest three deep ("t" is an array of objects). */
#define JSON_SCAN_DEPTH 32u

typedef enum { SCAN_MORE, SCAN_DONE, SCAN_BROKEN } ScanResult;

typedef struct JsonScan {
    guint8 state;
    guint8 depth;
    gboolean in_key;
    guint32 objects; /* bit d: level d is an object, not an array */
} JsonScan;

/* State after the opening brace. */
JsonScan json_scan_begin(void);
/* *taken: with SCAN_DONE just past the closing brace, with SCAN_BROKEN the offset of the byte that cannot be. */
ScanResult json_scan(JsonScan *scan, const guint8 *data, gsize size_bytes, gsize *taken);
