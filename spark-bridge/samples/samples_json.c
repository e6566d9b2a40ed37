/* Samples as JSON: sadf -j, iostat -o JSON, mpstat -o JSON. What an object says is told by the names in it, wherever it
 * stands; so nothing is held but the object at hand. */
#include "spark-bridge/samples/samples_inside.h"

#include <string.h>

#include "common/base/clock.h"

/* ---- values ---- */

static void flush_time(SampleReader *reader, const ClockTime *time, SparkRecords *into) {
    gint64 ns = -1;
    if (!sample_instant(reader, time, &ns)) ns = -1;
    sample_begin(reader, ns, into);
    if (reader->json.interval_s > 0 && ns >= 0) reader->before_ns = ns - reader->json.interval_s * NS_PER_SEC;
    reader->json.interval_s = 0;
}

/* "timestamp": "11/21/26 20:44:48" of iostat, "20:44:49" of mpstat. */
static void text_stamp(SampleReader *reader, const char *text, SparkRecords *into) {
    ClockTime time = CLOCK_NO_TIME;
    const gboolean both = clock_read_both(text, reader->order, &time, &reader->counts.date_ambiguous);
    if (!both && clock_read_time(text, &time) == 0) {
        sample_bad_line(reader, "a timestamp that is none");
        return;
    }
    reader->json.first_report = !reader->json.stamps_are_texts && both;
    reader->json.stamps_are_texts = TRUE;
    reader->source = both ? "iostat" : "mpstat";
    flush_time(reader, &time, into);
}

static void head_value(SampleReader *reader, const char *key, const char *text) {
    ClockTime time = CLOCK_NO_TIME;
    gboolean doubt = FALSE;
    if (strcmp(key, "nodename") == 0) {
        sample_set_host(reader, text, strlen(text));
        sample_restart_clock(reader);
        reader->json.stamps_are_texts = FALSE;
    } else if (strcmp(key, "file-date") == 0 || strcmp(key, "date") == 0) {
        if (clock_read_date(text, reader->order, &time, &doubt) == 0) return;
        sample_set_day(reader, time.day);
        reader->counts.date_ambiguous = reader->counts.date_ambiguous || (doubt && reader->given_day == G_MININT64);
    }
}

/* Fields of sadf's object "timestamp". */
static void stamp_value(SampleReader *reader, const char *key, const char *text) {
    JsonState *json = &reader->json;
    gboolean doubt = FALSE;
    if (strcmp(key, "date") == 0)
        clock_read_date(text, DATE_YEAR_FIRST, &json->time, &doubt);
    else if (strcmp(key, "time") == 0)
        clock_read_time(text, &json->time);
    else if (strcmp(key, "utc") == 0)
        json->utc = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    else if (strcmp(key, "interval") == 0)
        json->interval_s = (gint64)g_ascii_strtoull(text, NULL, 10) % 86400;
}

static void scalar(SampleReader *reader, gboolean quoted, SparkRecords *into) {
    JsonState *json = &reader->json;
    json->text[json->length] = '\0';
    if (!(json->objects >> json->depth & 1)) return; /* a list's */
    if (json->in_stamp)
        stamp_value(reader, json->key, json->text);
    else if (quoted && strcmp(json->key, "timestamp") == 0)
        text_stamp(reader, json->text, into);
    else if (quoted && column_named(json->key, strlen(json->key)).kind == COLUMN_OTHER)
        head_value(reader, json->key, json->text);
    else if (!row_set(&json->row, column_named(json->key, strlen(json->key)), json->text, json->length))
        json->bad_value = TRUE;
}

/* ---- objects ---- */

static void object_begins(SampleReader *reader) {
    JsonState *json = &reader->json;
    row_clear(&json->row);
    json->bad_value = FALSE;
    if (strcmp(json->key, "timestamp") != 0 || !json->after_colon) return;
    json->in_stamp = TRUE;
    json->utc = FALSE;
    json->time = CLOCK_NO_TIME;
}

static void object_ends(SampleReader *reader, SparkRecords *into) {
    JsonState *json = &reader->json;
    if (json->in_stamp) {
        json->in_stamp = FALSE;
        reader->source = "sadf";
        json->first_report = FALSE;
        json->time.has_offset = json->utc;
        if (json->time.second_of_day >= 0)
            flush_time(reader, &json->time, into);
        else
            sample_bad_line(reader, "a timestamp that is none");
        return;
    }
    if (json->bad_value)
        sample_bad_line(reader, "a value that is no number");
    else if (json->row.has != 0 && !json->first_report)
        block_add(&reader->block, &json->row);
    row_clear(&json->row);
    json->bad_value = FALSE;
}

static void broken(SampleReader *reader, const char *reason) {
    sample_bad_line(reader, reason);
    reader->json.broken = TRUE;
}

static void open_level(SampleReader *reader, gboolean object) {
    JsonState *json = &reader->json;
    if (json->depth + 1 >= JSON_DEPTH) {
        broken(reader, "JSON of more than 30 levels");
        return;
    }
    json->depth++;
    json->objects = (json->objects & ~(1u << json->depth)) | (guint32)object << json->depth;
    if (object) object_begins(reader);
    json->after_colon = FALSE;
}

static void close_level(SampleReader *reader, gboolean object, SparkRecords *into) {
    JsonState *json = &reader->json;
    if (json->depth == 0 || (json->objects >> json->depth & 1) != (guint32)object) {
        broken(reader, "a bracket that closes nothing");
        return;
    }
    if (object) object_ends(reader, into);
    json->depth--;
    json->after_colon = FALSE;
}

/* ---- bytes ---- */

static void text_byte(SampleReader *reader, char c, SparkRecords *into) {
    JsonState *json = &reader->json;
    if (json->escaped || (c != '"' && c != '\\')) {
        if (json->length + 1 < JSON_TEXT) json->text[json->length++] = c;
        json->escaped = FALSE;
        return;
    }
    if (c == '\\') {
        json->escaped = TRUE;
        return;
    }
    json->in_text = FALSE;
    if (json->after_colon || !(json->objects >> json->depth & 1)) {
        scalar(reader, TRUE, into);
        json->after_colon = FALSE;
    } else {
        json->text[json->length] = '\0';
        memcpy(json->key, json->text, json->length + 1);
    }
}

static void structural_byte(SampleReader *reader, char c, SparkRecords *into) {
    JsonState *json = &reader->json;

    switch (c) {
    case '"':
        json->in_text = TRUE;
        json->length = 0;
        break;
    case '{': open_level(reader, TRUE); break;
    case '[': open_level(reader, FALSE); break;
    case '}': close_level(reader, TRUE, into); break;
    case ']': close_level(reader, FALSE, into); break;
    case ':': json->after_colon = TRUE; break;
    case ',': json->after_colon = FALSE; break;
    default:
        if (!g_ascii_isalnum(c) && c != '-' && c != '+') {
            broken(reader, "a byte that is not of JSON");
            return;
        }
        json->in_word = TRUE;
        json->text[0] = c;
        json->length = 1;
    }
}

static void json_byte(SampleReader *reader, char c, SparkRecords *into) {
    JsonState *json = &reader->json;
    if (json->in_text) {
        text_byte(reader, c, into);
        return;
    }
    if (json->in_word) {
        if (g_ascii_isalnum(c) || c == '.' || c == '-' || c == '+') {
            if (json->length + 1 < JSON_TEXT) json->text[json->length++] = c;
            return;
        }
        json->in_word = FALSE;
        scalar(reader, FALSE, into);
        json->after_colon = FALSE;
    }
    if (!g_ascii_isspace(c)) structural_byte(reader, c, into);
}

void sample_json_bytes(SampleReader *reader, const char *data, gsize n, SparkRecords *into) {
    for (gsize i = 0; i < n && !reader->json.broken; i++) {
        json_byte(reader, data[i], into);
        reader->counts.lines += data[i] == '\n';
    }
}
