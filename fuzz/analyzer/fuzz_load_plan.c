/* Plans of loads: whatever stands there, it is read or refused; and one that was read comes to what it says. */
#include "analyzer/load/plan/plan.h"
#include "fuzz/target.h"

typedef struct Seen {
    guint64 operations;
    gint64 last_due_ns;
} Seen;

static void see(void *arg, const LoadOperation *operation) {
    Seen *seen = arg;
    seen->operations++;
    g_assert_cmpint(operation->due_ns, >=, seen->last_due_ns);
    g_assert_cmpint(operation->kind, <, LOAD_KINDS);
    g_assert_cmpint(operation->offset, >=, 0);
    g_assert_cmpint(operation->size_bytes, >=, 0);
    g_assert_cmpint(operation->size_bytes, <=, LOAD_FILE_MOST_BYTES);
    seen->last_due_ns = operation->due_ns;
}

/* In pieces of this size. */
static gboolean read_in(const uint8_t *data, size_t size, size_t piece_bytes, LoadPlanSums *sums, Seen *seen) {
    g_autoptr(GError) error = NULL;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(see, seen);
    gboolean sound = TRUE;
    for (size_t at = 0; at < size && sound; at += piece_bytes)
        sound = load_plan_read(reader, (Bytes){data + at, MIN(piece_bytes, size - at)}, &error);
    sound = sound && load_plan_read_end(reader, sums, &error);
    g_assert_true(sound == (error == NULL));
    if (error != NULL) g_assert_true(g_utf8_validate(error->message, -1, NULL));
    return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    LoadPlanSums whole = {0}, pieces = {0};
    Seen seen_whole = {0}, seen_pieces = {0};
    const gboolean sound = read_in(data, size, size > 0 ? size : 1, &whole, &seen_whole);
    g_assert_true(read_in(data, size, 3, &pieces, &seen_pieces) == sound);
    g_assert_cmpmem(&whole, sizeof whole, &pieces, sizeof pieces);
    if (sound) g_assert_cmpuint(whole.operations, ==, seen_whole.operations);

    g_autofree char *text = g_strndup((const char *)data, size);
    LoadMix mix;
    if (g_utf8_validate(text, -1, NULL) && load_mix_parse(text, &mix, NULL)) {
        g_autofree char *again = load_mix_format(&mix);
        LoadMix same;
        g_assert_true(load_mix_parse(again, &same, NULL));
        g_assert_cmpmem(&mix, sizeof mix, &same, sizeof same);
    }
    LoadProfile profile = {.day_ns = 1}, same_profile = {.day_ns = 1};
    if (load_profile_parse(text, &profile, NULL)) {
        g_autofree char *again = load_profile_format(&profile);
        g_assert_true(load_profile_parse(again, &same_profile, NULL));
        g_assert_cmpmem(profile.minutes, sizeof profile.minutes, same_profile.minutes, sizeof same_profile.minutes);
    }
    return 0;
}
