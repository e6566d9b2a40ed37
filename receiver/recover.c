#include "receiver/recover.h"

#include <time.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/log.h"

#define PROGRESS_NS (2 * NS_PER_SEC)

typedef struct Recovery {
    const RecoverOptions *options;
    RecoverResult result;
    guint64 total_bytes;
    gint64 progress_ns; /* when the next progress line is due */
} Recovery;

static gboolean shards_full(const RecoverOptions *options) {
    for (guint i = 0; i < options->n_shards; i++)
        if (shard_full(options->shards[i])) return TRUE;
    return options->recorder != NULL && recorder_full(options->recorder);
}

static gboolean wait_room(const RecoverOptions *options, GError **error) {
    for (;;) {
        if (atomic_load(options->cancelled)) return fail(error, PLUMB_ERROR_BUSY, "recovery was interrupted by a stop");
        if (!shards_full(options)) return TRUE;
        struct timespec pause = {.tv_nsec = 2 * NS_PER_MS};
        nanosleep(&pause, NULL);
    }
}

static void log_progress(Recovery *recovery, guint64 bytes) {
    gint64 now_ns = clock_monotonic_ns(clock_system());
    if (now_ns < recovery->progress_ns) return;
    recovery->progress_ns = now_ns + PROGRESS_NS;
    double percent = 100.0 * (double)(recovery->result.bytes + bytes) / (double)MAX(recovery->total_bytes, 1);
    log_message(LOG_LEVEL_NOTICE, "recovering from the journal: %.0f %%, %" G_GUINT64_FORMAT " spans", percent,
                recovery->result.spans);
}

static gboolean replay(Recovery *recovery, JournalReader *reader, JournalSegment *segment, GError **error) {
    static LogLimit limit;
    Bytes frame;
    while (journal_reader_next(reader, &frame)) {
        if (!wait_room(recovery->options, error)) return FALSE;
        guint32 spans = 0;
        g_autoptr(GError) problem = NULL;
        if (intake_replay(recovery->options->intake, frame, segment, &spans, &problem)) {
            recovery->result.frames++;
            recovery->result.spans += spans;
        } else if (g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_INPUT) ||
                   g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_LIMIT)) {
            log_limited(&limit, LOG_LEVEL_ERROR, "%s holds a batch that cannot be decoded: %s",
                        journal_segment_path(segment), problem->message);
            journal_mark_damaged(recovery->options->journal, segment);
            recovery->result.damages++;
        } else {
            g_propagate_error(error, g_steal_pointer(&problem));
            return FALSE;
        }
        log_progress(recovery, reader->at);
    }
    return TRUE;
}

static void note_damage(Recovery *recovery, JournalSegment *segment, guint64 bytes, const char *what) {
    recovery->result.damages++;
    recovery->result.damaged_bytes += bytes;
    journal_mark_damaged(recovery->options->journal, segment);
    log_message(LOG_LEVEL_ERROR, "%s: %s; all else in it is taken, and the file is kept as %s.damaged",
                journal_segment_path(segment), what, journal_segment_path(segment));
}

static void report_reader(Recovery *recovery, JournalSegment *segment, const JournalReader *reader) {
    if (reader->damages == 0) return;
    g_autofree char *what =
        g_strdup_printf("%" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT " on are damaged or cut off (%u places)",
                        reader->damaged_bytes, reader->first_damage, reader->damages);
    note_damage(recovery, segment, reader->damaged_bytes, what);
    recovery->result.damages += reader->damages - 1;
}

/* Nothing after it was ever written here, so nothing else can be missing. */
static void report_torn(const JournalSegment *segment) {
    log_message(LOG_LEVEL_NOTICE,
                "%s ends in a batch that was being written when plumbd was ended; unless the machine went down with "
                "it, its sender had no reply and sends it again",
                journal_segment_path(segment));
}

static gboolean recover_segment(Recovery *recovery, guint i, GError **error) {
    JournalSegment *segment;
    g_autoptr(GMappedFile) map = NULL;
    g_autoptr(GError) problem = NULL;
    if (!journal_found_open(recovery->options->journal, i, &segment, &map, &problem)) {
        log_message(LOG_LEVEL_ERROR, "a journal segment cannot be read: %s", problem->message);
        recovery->result.damages++;
        return TRUE;
    }
    Bytes file = {g_mapped_file_get_contents(map), g_mapped_file_get_length(map)};
    guint64 once_bytes = journal_found_size_once(recovery->options->journal, i);
    /* What is behind its end mark is of another time. */
    if (once_bytes > 0) file.size_bytes = MIN(file.size_bytes, once_bytes + JOURNAL_RECORD_HEADER_BYTES);
    JournalReader reader = {0};
    gboolean good = TRUE;
    if (journal_reader_init(&reader, file, &problem)) {
        good = replay(recovery, &reader, segment, error);
        if (good) report_reader(recovery, segment, &reader);
    } else if (file.size_bytes >= JOURNAL_HEADER_BYTES) {
        note_damage(recovery, segment, file.size_bytes, problem->message);
    } /* else: a crash while it was made; nothing was in it yet, or the next test finds out */
    if (good && file.size_bytes < once_bytes)
        note_damage(recovery, segment, once_bytes - file.size_bytes, "its end is missing");
    else if (good && reader.torn_bytes > 0)
        report_torn(segment);
    recovery->result.segments++;
    recovery->result.bytes += file.size_bytes;
    if (good) journal_release(segment);
    return good;
}

gboolean recover_journal(const RecoverOptions *options, RecoverResult *result, GError **error) {
    Recovery recovery = {.options = options};
    guint n = journal_found(options->journal);
    recovery.total_bytes = journal_usage(options->journal).bytes;
    if (n > 0)
        log_message(LOG_LEVEL_NOTICE, "recovering from the journal: %u segments, %.1f MB", n,
                    (double)recovery.total_bytes / 1e6);
    recovery.progress_ns = clock_monotonic_ns(clock_system()) + PROGRESS_NS;
    for (guint i = 0; i < n; i++)
        if (!recover_segment(&recovery, i, error)) return FALSE;
    if (n > 0)
        log_message(LOG_LEVEL_NOTICE,
                    "recovered %" G_GUINT64_FORMAT " spans of %" G_GUINT64_FORMAT " batches from the journal",
                    recovery.result.spans, recovery.result.frames);
    *result = recovery.result;
    return TRUE;
}
