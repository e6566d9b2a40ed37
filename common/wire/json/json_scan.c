#include "common/wire/json/json_scan.h"

enum {
    WANT_KEY_OR_END,
    WANT_KEY,
    WANT_COLON,
    WANT_VALUE,
    WANT_VALUE_OR_END,
    WANT_COMMA_OR_END,
    IN_STRING,
    IN_ESCAPE,
    IN_LITERAL, /* a number, true, false, null */
};

JsonScan json_scan_begin(void) { return (JsonScan){.state = WANT_KEY_OR_END, .depth = 1, .objects = 1u << 1}; }

static gboolean in_object(const JsonScan *scan) { return (scan->objects >> scan->depth & 1) != 0; }

static ScanResult begin_string(JsonScan *scan, gboolean key) {
    scan->in_key = key;
    scan->state = IN_STRING;
    return SCAN_MORE;
}

static ScanResult open_level(JsonScan *scan, gboolean object) {
    if (scan->depth + 1u >= JSON_SCAN_DEPTH) return SCAN_BROKEN;
    scan->depth++;
    if (object)
        scan->objects |= 1u << scan->depth;
    else
        scan->objects &= ~(1u << scan->depth);
    scan->state = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    return SCAN_MORE;
}

static ScanResult close_level(JsonScan *scan, guint8 byte) {
    if (byte != (in_object(scan) ? '}' : ']')) return SCAN_BROKEN;
    scan->state = WANT_COMMA_OR_END;
    return --scan->depth == 0 ? SCAN_DONE : SCAN_MORE;
}

static ScanResult begin_value(JsonScan *scan, guint8 byte) {
    if (byte == '"') return begin_string(scan, FALSE);
    if (byte == '{' || byte == '[') return open_level(scan, byte == '{');
    if (byte != '-' && !g_ascii_isdigit(byte) && byte != 't' && byte != 'f' && byte != 'n') return SCAN_BROKEN;
    scan->state = IN_LITERAL;
    return SCAN_MORE;
}

/* One byte outside of strings that is not white space. */
static ScanResult step(JsonScan *scan, guint8 byte) {
    switch (scan->state) {
    case WANT_KEY_OR_END:
        if (byte == '}') return close_level(scan, byte);
        return byte == '"' ? begin_string(scan, TRUE) : SCAN_BROKEN;
    case WANT_KEY: return byte == '"' ? begin_string(scan, TRUE) : SCAN_BROKEN;
    case WANT_COLON: scan->state = WANT_VALUE; return byte == ':' ? SCAN_MORE : SCAN_BROKEN;
    case WANT_VALUE_OR_END:
        if (byte == ']') return close_level(scan, byte);
        return begin_value(scan, byte);
    case WANT_VALUE: return begin_value(scan, byte);
    default: break;
    }
    if (byte != ',') return close_level(scan, byte);
    scan->state = in_object(scan) ? WANT_KEY : WANT_VALUE;
    return SCAN_MORE;
}

static gboolean is_space(guint8 byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/* Runs to the end of the string, the end of the data or a control character, which JSON forbids inside strings. */
static ScanResult scan_string(JsonScan *scan, const guint8 *data, gsize size_bytes, gsize *at) {
    while (*at < size_bytes) {
        const guint8 byte = data[*at];
        if (byte < 0x20) return SCAN_BROKEN;
        ++*at;
        if (scan->state == IN_ESCAPE) {
            scan->state = IN_STRING;
        } else if (byte == '\\') {
            scan->state = IN_ESCAPE;
        } else if (byte == '"') {
            scan->state = scan->in_key ? WANT_COLON : WANT_COMMA_OR_END;
            return SCAN_MORE;
        }
    }
    return SCAN_MORE;
}

ScanResult json_scan(JsonScan *scan, const guint8 *data, gsize size_bytes, gsize *taken) {
    gsize at = 0;
    ScanResult result = SCAN_MORE;

    while (at < size_bytes && result == SCAN_MORE) {
        const guint8 byte = data[at];
        if (scan->state == IN_STRING || scan->state == IN_ESCAPE) {
            result = scan_string(scan, data, size_bytes, &at);
            continue;
        }
        if (scan->state == IN_LITERAL) {
            if (g_ascii_isalnum(byte) || byte == '+' || byte == '-' || byte == '.') {
                at++;
                continue;
            }
            scan->state = WANT_COMMA_OR_END;
        }

        if (!is_space(byte)) result = step(scan, byte);
        if (result != SCAN_BROKEN) at++;
    }

    *taken = at;
    return result;
}
