#include "spark-bridge/samples/samples.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "spark-bridge/samples/samples_inside.h"

#define SECONDS_PER_DAY 86400
/* Between two samples; what is longer was a pause. */
#define INTERVAL_MOST_NS (3600 * NS_PER_SEC)

/* ---- life ---- */

static gboolean read_options(SampleReader *reader, const SampleOptions *options, GError **error) {
    reader->order = options->order;
    reader->start_ns = options->start_ns;
    reader->given_interval_ns = options->interval_ns;
    reader->zone_given = options->zone != NULL;

    reader->zone = options->zone != NULL ? g_time_zone_new_identifier(options->zone) : g_time_zone_new_local();
    if (reader->zone == NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "zone \"%s\" is none: use UTC, +02:00 or a name like Europe/Berlin",
                    options->zone);

    reader->given_day = G_MININT64;
    if (options->date != NULL) {
        ClockTime time = CLOCK_NO_TIME;
        gboolean doubt = FALSE;
        const gsize used = clock_read_date(options->date, DATE_YEAR_FIRST, &time, &doubt);
        if (used == 0 || options->date[used] != '\0')
            return fail(error, PLUMB_ERROR_CONFIG, "date \"%s\" is none: write it as 2026-11-21", options->date);
        reader->given_day = time.day;
    }

    if (options->host != NULL) reader->host = g_strdup(options->host);
    return TRUE;
}

SampleReader *sample_reader_new(const SampleOptions *options, GError **error) {
    SampleReader *reader = g_new0(SampleReader, 1);
    reader->line = g_string_new(NULL);
    block_init(&reader->block);
    reader->source = "sysstat";
    reader->first_day = G_MININT64;
    reader->interval_ns = -1;
    sample_restart_clock(reader);
    if (!read_options(reader, options, error)) {
        sample_reader_free(reader);
        return NULL;
    }
    sample_set_day(reader, reader->given_day);
    return reader;
}

void sample_reader_free(SampleReader *reader) {
    if (reader == NULL) return;
    g_free(reader->host);
    g_free(reader->log_host);
    if (reader->zone != NULL) g_time_zone_unref(reader->zone);
    g_string_free(reader->line, TRUE);
    block_clear(&reader->block);
    g_free(reader);
}

SampleCounts sample_reader_counts(const SampleReader *reader) {
    SampleCounts counts = reader->counts;
    counts.devices_left_out = reader->block.left_out;
    return counts;
}

void sample_bad_line(SampleReader *reader, const char *reason) {
    if (reader->counts.bad_lines++ > 0) return;
    reader->counts.first_bad_line = reader->counts.lines;
    reader->counts.first_bad_reason = reason;
}

/* ---- host and time ---- */

void sample_set_host(SampleReader *reader, const char *host, gsize length) {
    if (length == 0 || length > LIMIT_HOST_BYTES) return;
    g_free(reader->log_host);
    reader->log_host = g_strndup(host, length);
}

void sample_set_day(SampleReader *reader, gint64 day) {
    if (reader->given_day != G_MININT64) day = reader->given_day;
    reader->first_day = reader->day = day;
}

void sample_restart_clock(SampleReader *reader) {
    reader->last_local_s = G_MININT64;
    reader->day = reader->first_day;
    reader->time_ns = reader->before_ns = -1;
}

static gint32 offset_at(SampleReader *reader, gint64 local_s) {
    gint64 time_s = local_s;
    const gint interval = g_time_zone_adjust_time(reader->zone, G_TIME_TYPE_STANDARD, &time_s);
    reader->counts.zone_assumed = reader->counts.zone_assumed || !reader->zone_given;
    return g_time_zone_get_offset(reader->zone, interval);
}

gboolean sample_instant(SampleReader *reader, const ClockTime *time, gint64 *ns) {
    const gboolean own_day = time->day != G_MININT64;
    if (own_day && reader->given_day == G_MININT64) reader->day = time->day;
    if (reader->day == G_MININT64) return FALSE;
    gint64 local_s = reader->day * SECONDS_PER_DAY + time->second_of_day;
    if (!own_day && reader->last_local_s != G_MININT64) {
        const gint64 half_s = SECONDS_PER_DAY / 2;
        while (local_s < reader->last_local_s - half_s) local_s += SECONDS_PER_DAY;
        while (local_s > reader->last_local_s + half_s) local_s -= SECONDS_PER_DAY;
        reader->day = local_s / SECONDS_PER_DAY;
    }
    reader->last_local_s = local_s;
    reader->offset_s = time->has_offset ? time->offset_s : offset_at(reader, local_s);
    *ns = (local_s - reader->offset_s) * NS_PER_SEC;
    return TRUE;
}

/* ---- samples ---- */

static gint64 interval_of(SampleReader *reader) {
    const gint64 since_ns = reader->time_ns - reader->before_ns;
    if (reader->before_ns >= 0 && since_ns > 0 && since_ns <= INTERVAL_MOST_NS) reader->interval_ns = since_ns;
    return reader->interval_ns > 0 ? reader->interval_ns : NS_PER_SEC;
}

/* Copies a list of structs whose first field is a name into the memory of the records. */
#define COPY_NAMED(into, list, Type, field)                                                                            \
    ({                                                                                                                 \
        Type *items = spark_list(into, (list)->len, sizeof(Type));                                                     \
        for (guint i = 0; i < (list)->len; i++) {                                                                      \
            items[i] = g_array_index(list, Type, i);                                                                   \
            items[i].field = spark_text_shared(into, items[i].field, strlen(items[i].field));                          \
        }                                                                                                              \
        items;                                                                                                         \
    })

static void hand_on(SampleReader *reader, const char *host, SparkRecords *into) {
    const SampleBlock *block = &reader->block;
    HostSample *sample = spark_add_sample(into);
    sample->host = spark_text_shared(into, host, strlen(host));
    sample->source = spark_text_shared(into, reader->source, strlen(reader->source));
    sample->time_ns = reader->time_ns;
    sample->interval_ns = interval_of(reader);
    sample->zone_offset_s = reader->block_offset_s;

    if (block->has_cpu) {
        sample->user = block->user;
        sample->system = block->system;
        sample->iowait = block->iowait;
        sample->steal = block->steal;
        sample->idle = block->idle;
    }

    if (block->disks->len > 0)
        sample->disks = (SparkDisks){COPY_NAMED(into, block->disks, HostDisk, device), block->disks->len};
    if (block->nets->len > 0)
        sample->nets = (SparkNets){COPY_NAMED(into, block->nets, HostNet, interface), block->nets->len};

    reader->counts.samples++;
    reader->counts.zone_offset_s = reader->block_offset_s;
}

void sample_flush(SampleReader *reader, SparkRecords *into) {
    const char *host = reader->host != NULL ? reader->host : reader->log_host;
    if (!block_is_empty(&reader->block)) {
        if (reader->time_ns < 0)
            reader->counts.without_time++;
        else if (host == NULL)
            sample_bad_line(reader, "a sample of a host that neither the log nor an option names");
        else
            hand_on(reader, host, into);
    }
    block_reset(&reader->block);
}

void sample_begin(SampleReader *reader, gint64 time_ns, SparkRecords *into) {
    if (time_ns == reader->time_ns && time_ns >= 0) return;
    sample_flush(reader, into);
    if (reader->time_ns >= 0 && time_ns >= 0) {
        if (time_ns < reader->time_ns) reader->counts.clock_steps++;
        reader->before_ns = reader->time_ns;
    }
    reader->time_ns = time_ns;
    reader->block_offset_s = reader->offset_s;
}

/* ---- pieces ---- */

static void end_line(SampleReader *reader, SparkRecords *into) {
    reader->counts.lines++;
    if (reader->line_too_long)
        sample_bad_line(reader, "a line of more than 64 KiB");
    else
        sample_text_line(reader, reader->line->str, into);
    g_string_set_size(reader->line, 0);
    reader->line_too_long = FALSE;
}

static void add_to_line(SampleReader *reader, const char *data, gsize n) {
    if (reader->line_too_long || reader->line->len + n > SAMPLE_LINE_BYTES) {
        reader->line_too_long = TRUE;
        return;
    }
    /* Texts end at a zero: a log has none. */
    g_string_append_len(reader->line, data, (gssize)n);
}

static void feed_text(SampleReader *reader, const char *data, gsize n, SparkRecords *into) {
    while (n > 0) {
        const char *end = memchr(data, '\n', n);
        const gsize part = end != NULL ? (gsize)(end - data) : n;
        add_to_line(reader, data, part);
        if (end == NULL) return;
        end_line(reader, into);
        data += part + 1;
        n -= part + 1;
    }
}

void sample_reader_feed(SampleReader *reader, Bytes piece, SparkRecords *into) {
    const char *data = piece.data;
    gsize n = piece.size_bytes;
    reader->counts.bytes += n;
    while (reader->form == FORM_UNKNOWN && n > 0) {
        if (g_ascii_isspace(*data)) {
            reader->counts.lines += *data == '\n';
            data++;
            n--;
        } else {
            reader->form = *data == '{' ? FORM_JSON : FORM_TEXT;
        }
    }
    if (reader->form == FORM_JSON)
        sample_json_bytes(reader, data, n, into);
    else
        feed_text(reader, data, n, into);
}

void sample_reader_finish(SampleReader *reader, SparkRecords *into) {
    if (reader->form == FORM_TEXT && (reader->line->len > 0 || reader->line_too_long)) end_line(reader, into);
    if (reader->form == FORM_JSON && reader->json.depth > 0 && !reader->json.broken) {
        reader->counts.lines++;
        sample_bad_line(reader, "the JSON ends within a value");
    }
    sample_flush(reader, into);
}

gboolean samples_recognise(Bytes head) {
    const char *data = head.data;
    gsize n = head.size_bytes;
    while (n > 0 && g_ascii_isspace(*data)) {
        data++;
        n--;
    }
    g_autofree char *text = g_strndup(data, MIN(n, 512));
    if (text[0] == '{') return strstr(text, "\"sysstat\"") != NULL;
    if (text[0] == '#') return g_str_has_prefix(text, "# hostname;interval;timestamp;");
    char *end = strchr(text, '\n');
    if (end != NULL) *end = '\0';
    return strstr(text, " (") != NULL && strstr(text, "CPU)") != NULL;
}
