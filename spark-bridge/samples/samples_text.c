/* Samples as text: lines of mpstat, iostat and sar, in any locale, and of sadf -d. */
#include "spark-bridge/samples/samples_inside.h"

#include <string.h>

#include "common/base/clock.h"

typedef struct Token {
    const char *text;
    gsize length;
} Token;

static guint split(const char *text, Token *tokens) {
    guint n = 0;
    for (const char *at = text; n < COLUMNS_MAX;) {
        at += strspn(at, " \t\r");
        if (*at == '\0') break;
        tokens[n] = (Token){at, strcspn(at, " \t\r")};
        at += tokens[n++].length;
    }
    return n;
}

static gboolean is_number(Token token) {
    if (token.length == 0 || !g_ascii_isdigit(token.text[0])) return FALSE;
    for (gsize i = 0; i < token.length; i++)
        if (!g_ascii_isdigit(token.text[i]) && token.text[i] != '.' && token.text[i] != ',') return FALSE;
    return TRUE;
}

static gboolean token_is(Token token, const char *text) {
    return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

/* ---- the log's head: "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)" ---- */

static gboolean read_head(SampleReader *reader, const char *line, SparkRecords *into) {
    const char *open = strstr(line, " ("), *close = open != NULL ? strchr(open, ')') : NULL;
    if (close == NULL || g_ascii_isdigit(line[0]) || strstr(close, "CPU)") == NULL) return FALSE;
    sample_flush(reader, into);
    reader->text = (TextState){.table = TABLE_NONE};
    sample_set_host(reader, open + 2, (gsize)(close - open - 2));
    ClockTime time = CLOCK_NO_TIME;
    gboolean doubt = FALSE;
    if (clock_read_date(close + 1, reader->order, &time, &doubt) > 0) {
        sample_set_day(reader, time.day);
        reader->counts.date_ambiguous = reader->counts.date_ambiguous || (doubt && reader->given_day == G_MININT64);
    } else {
        sample_set_day(reader, G_MININT64);
    }
    sample_restart_clock(reader);
    return TRUE;
}

/* ---- columns and rows ---- */

/* The columns of a table of which at least one is read; TABLE_NONE otherwise. */
static void set_columns(SampleReader *reader, TableKind table, const Token *tokens, guint n) {
    TextState *text = &reader->text;
    guint known = 0;
    text->table = TABLE_NONE;
    text->n_columns = n;
    for (guint i = 0; i < n; i++) {
        text->columns[i] = column_named(tokens[i].text, tokens[i].length);
        known += text->columns[i].kind != COLUMN_OTHER;
    }
    if (known > 0) text->table = table;
}

static gboolean has_column(const SampleReader *reader, ColumnKind kind) {
    for (guint i = 0; i < reader->text.n_columns; i++)
        if (reader->text.columns[i].kind == kind) return TRUE;
    return FALSE;
}

/* 'add': whether it counts, or is only looked at. */
static void read_row(SampleReader *reader, const Token *tokens, guint n, gboolean add) {
    const TextState *text = &reader->text;
    SampleRow row;
    row_clear(&row);
    if (n != text->n_columns) {
        sample_bad_line(reader, "a row with more or fewer values than its table has columns");
        return;
    }
    for (guint i = 0; i < n; i++) {
        if (row_set(&row, text->columns[i], tokens[i].text, tokens[i].length)) continue;
        sample_bad_line(reader, "a value that is no number");
        return;
    }
    if (add) block_add(&reader->block, &row);
}

/* ---- mpstat and sar: a time, then columns or values ---- */

static gboolean any_number(const Token *tokens, guint n) {
    for (guint i = 0; i < n; i++)
        if (is_number(tokens[i])) return TRUE;
    return FALSE;
}

static void timed_head(SampleReader *reader, const ClockTime *time, const Token *tokens, guint n) {
    /* A section of a stored day begins with the day again. */
    if (reader->text.averaged) sample_restart_clock(reader);
    reader->text.averaged = FALSE;
    set_columns(reader, TABLE_TIMED, tokens, n);
    if (reader->text.table == TABLE_NONE) return;
    reader->source = has_column(reader, COLUMN_IRQ) || has_column(reader, COLUMN_SOFT) ? "mpstat" : "sar";
    /* Its time is that of the sample before the first. */
    gint64 ns;
    if (sample_instant(reader, time, &ns) && (reader->time_ns < 0 || ns > reader->time_ns)) reader->before_ns = ns;
}

static void timed_line(SampleReader *reader, const ClockTime *time, const char *rest, SparkRecords *into) {
    Token tokens[COLUMNS_MAX];
    const guint n = split(rest, tokens);
    if (!any_number(tokens, n)) {
        sample_flush(reader, into);
        timed_head(reader, time, tokens, n);
        return;
    }
    if (reader->text.table == TABLE_NONE) return; /* of a table that is not read; or the machine started again */
    gint64 ns;
    if (reader->text.table != TABLE_TIMED) {
        sample_bad_line(reader, "a row with a time in a table without");
    } else if (!sample_instant(reader, time, &ns)) {
        reader->counts.without_time++;
    } else {
        sample_begin(reader, ns, into);
        read_row(reader, tokens, n, TRUE);
    }
}

/* ---- iostat: a line with the time, then tables ---- */

static void stamp(SampleReader *reader, const ClockTime *time, SparkRecords *into) {
    gint64 ns = -1;
    if (!sample_instant(reader, time, &ns)) ns = -1;
    sample_begin(reader, ns, into);
    reader->text.reports++;
    reader->text.stamped = TRUE;
    reader->text.table = TABLE_NONE;
}

/* A table that begins a report which no time came before. */
static void unstamped_report(SampleReader *reader, SparkRecords *into) {
    gint64 ns = -1;
    if (reader->start_ns >= 0 && reader->given_interval_ns > 0)
        ns = reader->start_ns + (gint64)MIN(reader->text.reports, 1u << 30) * reader->given_interval_ns;
    if (ns >= 0) reader->offset_s = 0;
    sample_begin(reader, ns, into);
    reader->text.reports++;
}

/* The head of one of iostat's tables; FALSE: it is none. */
static gboolean report_head(SampleReader *reader, const Token *tokens, guint n, SparkRecords *into) {
    const gboolean cpu = token_is(tokens[0], "avg-cpu:");
    if (!cpu && !token_is(tokens[0], "Device") && !token_is(tokens[0], "Device:")) return FALSE;
    const gboolean begins = cpu || reader->text.table == TABLE_NONE || has_column(reader, COLUMN_DISK);
    if (begins && !reader->text.stamped) unstamped_report(reader, into);
    if (!cpu) reader->text.stamped = FALSE; /* its last table */
    set_columns(reader, TABLE_REPORT, tokens + cpu, n - cpu);
    reader->source = "iostat";
    return TRUE;
}

/* "Time: 08:44:39 PM", as old versions have it: a word that ends with a colon, then the time. */
static gboolean labelled_time(const char *line, ClockTime *time) {
    const char *colon = strchr(line, ':');
    if (colon == NULL || g_ascii_isdigit(line[0]) || (colon[1] != ' ' && colon[1] != '\t')) return FALSE;
    const gsize used = clock_read_time(colon + 1, time);
    return used > 0 && colon[1 + used] == '\0';
}

/* The means below a table, each with a word in front ("Average:", "Moyenne :"), and the heads of theirs. */
static gboolean is_average(SampleReader *reader, const Token *tokens, guint n) {
    for (guint i = 1; i < n; i++) {
        if (column_named(tokens[i].text, tokens[i].length).kind == COLUMN_OTHER) continue;
        reader->text.table = TABLE_NONE;
        return TRUE;
    }
    const gboolean longer = reader->text.table == TABLE_TIMED ? n > reader->text.n_columns : reader->text.averaged;
    return longer && is_number(tokens[n - 1]);
}

static void untimed_line(SampleReader *reader, const char *line, SparkRecords *into) {
    Token tokens[COLUMNS_MAX];
    const guint n = split(line, tokens);
    ClockTime time = CLOCK_NO_TIME;
    if (clock_read_both(line, reader->order, &time, &reader->counts.date_ambiguous) || labelled_time(line, &time)) {
        stamp(reader, &time, into);
    } else if (report_head(reader, tokens, n, into)) {
        return;
    } else if (reader->text.table == TABLE_REPORT) {
        read_row(reader, tokens, n, reader->text.reports > 1);
    } else if (is_average(reader, tokens, n)) {
        sample_flush(reader, into);
        reader->text.averaged = TRUE;
    } else {
        sample_bad_line(reader, "a line that is neither a time, a table's head nor a row");
    }
}

/* ---- sadf -d: "# hostname;interval;timestamp;CPU;%user;..." ---- */

static guint split_fields(const char *line, Token *tokens) {
    guint n = 0;
    for (const char *at = line; n < COLUMNS_MAX; at++) {
        tokens[n] = (Token){at, strcspn(at, ";\r")};
        at += tokens[n++].length;
        if (*at != ';') break;
    }
    return n;
}

static void database_head(SampleReader *reader, const char *line, SparkRecords *into) {
    Token tokens[COLUMNS_MAX];
    const guint n = split_fields(line + strspn(line, "# "), tokens);
    sample_flush(reader, into);
    sample_restart_clock(reader);
    if (n < 4 || !token_is(tokens[0], "hostname") || !token_is(tokens[2], "timestamp")) {
        reader->text.table = TABLE_NONE;
        return;
    }
    char *more = strchr(tokens[n - 1].text, '['); /* "%idle[...]": further processors follow in the row */
    if (more != NULL) tokens[n - 1].length = (gsize)(more - tokens[n - 1].text);
    set_columns(reader, TABLE_DATABASE, tokens + 3, n - 3);
    reader->source = "sadf";
}

static void database_row(SampleReader *reader, const char *line, SparkRecords *into) {
    Token tokens[COLUMNS_MAX];
    const guint n = split_fields(line, tokens);
    ClockTime time = CLOCK_NO_TIME;
    gint64 ns;

    if (n < 4) {
        sample_bad_line(reader, "a row with more or fewer values than its table has columns");
        return;
    }
    g_autofree char *stamp_text = g_strndup(tokens[2].text, tokens[2].length);
    if (!clock_read_both(stamp_text, reader->order, &time, &reader->counts.date_ambiguous)) {
        sample_bad_line(reader, "a row without date and time");
        return;
    }

    g_autofree char *seconds = g_strndup(tokens[1].text, tokens[1].length);
    sample_set_host(reader, tokens[0].text, tokens[0].length);
    if (!sample_instant(reader, &time, &ns)) return;
    sample_begin(reader, ns, into);

    const gint64 interval_ns = (gint64)g_ascii_strtoull(seconds, NULL, 10) % 86400 * NS_PER_SEC;
    reader->before_ns = interval_ns > 0 ? ns - interval_ns : -1;
    read_row(reader, tokens + 3, n - 3, TRUE);
}

void sample_text_line(SampleReader *reader, char *line, SparkRecords *into) {
    g_strchomp(line);
    if (*line == '\0' || read_head(reader, line, into)) return;
    if (*line == '#') {
        database_head(reader, line, into);
        return;
    }
    if (strchr(line, ';') != NULL) {
        if (reader->text.table == TABLE_DATABASE) database_row(reader, line, into);
        return;
    }
    ClockTime time = CLOCK_NO_TIME;
    const gsize used = clock_read_time(line, &time);
    if (used > 0 && line[used] != '\0')
        timed_line(reader, &time, line + used, into);
    else if (used > 0)
        stamp(reader, &time, into);
    else
        untimed_line(reader, line, into);
}
