/* Tables that cannot be read.
 *
 * A compaction that cannot read a table makes RocksDB refuse all writes, until the database is opened anew; the first
 * thing that this one does is the same compaction. So a table of which a read fails is noted, and its family is not
 * compacted by itself while the note is there: what is written lies in further tables of level 0, and reads go on
 * beside the damage. The notes are lines of the file UNREADABLE in the store's folder,
 *
 *   <file> <checksum (XXH3) of its bytes, or '-' when they could not be read> <unix time> <what RocksDB said>
 *
 * and are looked at when the store is opened, and by store_check_damages(). A table that reads now, or has other bytes
 * than those that failed, or is no part of the store any more, is struck out, and its family is compacted again. */
#include <errno.h>
#include <fcntl.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/store/store_rocksdb_internal.h"
#include "common/store/store_rocksdb_table.h"
#include "common/store/store_skip.h"

#define NOTE_FILE  "UNREADABLE"
#define NOTE_WORDS 6
#define TABLE_END  ".sst"
#define READ_BYTES ((gsize)256 * 1024)
/* Each look at what cannot be read is as much as this: the clock is looked at each time. */
#define LOOK_BYTES ((gsize)64 * 1024)
/* Of RocksDB's text: the rest says nothing that is worth to be kept. */
#define WHY_MAX_BYTES 500

typedef struct Table {
    char *file;
    gboolean read; /* its bytes could be read, and have this checksum */
    guint64 checksum;
    gint64 noted_s;
    char *why;
    StoreFamily family; /* FAMILY_COUNT: not known */
    gboolean mended;    /* what can be read of it is kept, and nothing else is left of it in the store */
    guint64 lost_bytes; /* of a mended one */
    gboolean earlier;   /* noted before this opening, and could not be mended */
} Table;

static void table_free(void *arg) {
    Table *table = arg;
    g_free(table->file);
    g_free(table->why);
    g_free(table);
}

/* ---- the tables themselves ---- */

/* FALSE with errno set when some of it cannot be read. What the kernel has of it is not trusted. */
static gboolean table_checksum(const RocksStore *store, const char *file, guint64 *checksum) {
    g_autofree char *path = g_build_filename(store->path, file, NULL);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return FALSE;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);

    g_autofree char *part = g_malloc(READ_BYTES);
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    ssize_t got = 1;
    for (off_t at = 0; got > 0; at += got) {
        got = pread(fd, part, READ_BYTES, at);
        if (got > 0) XXH3_64bits_update(state, part, (gsize)got);
    }
    *checksum = XXH3_64bits_digest(state);

    const int why = errno;
    XXH3_freeState(state);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    errno = why;
    return got == 0;
}

static gboolean is_there(const RocksStore *store, const char *file, const char *end) {
    g_autofree char *name = g_strconcat(file, end, NULL), *path = g_build_filename(store->path, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* May it be read now? Of a mended one: has somebody looked at what is lost? */
static gboolean has_passed(const RocksStore *store, const Table *table) {
    guint64 checksum;
    if (table->mended) return !is_there(store, table->file, TABLE_DAMAGED_END);
    if (!table_checksum(store, table->file, &checksum)) return errno == ENOENT;
    return !table->read || checksum != table->checksum;
}

static StoreFamily family_named(const char *name) {
    StoreFamily family = 0;
    while (family < FAMILY_COUNT && strcmp(store_family_name(family), name) != 0) family++;
    return family;
}

/* Which family it belongs to; FAMILY_COUNT: it is no part of the store. */
static StoreFamily family_of(const rocksdb_livefiles_t *files, const char *file) {
    for (int i = 0; i < rocksdb_livefiles_count(files); i++) {
        const char *name = rocksdb_livefiles_name(files, i); /* "/000123.sst" */
        if (strcmp(name + (*name == '/'), file) != 0) continue;
        return family_named(rocksdb_livefiles_column_family_name(files, i));
    }
    return FAMILY_COUNT;
}

/* ---- the notes; with the lock held ---- */

static Table *table_parse(const char *line) {
    char **words = g_strsplit(line, " ", NOTE_WORDS);
    Table *table = NULL;
    if (g_strv_length(words) == NOTE_WORDS && g_str_has_suffix(words[0], TABLE_END) && strchr(words[0], '/') == NULL) {
        table = g_new0(Table, 1);
        table->file = g_strdup(words[0]);
        table->family = family_named(words[1]);
        table->read = strcmp(words[2], "-") != 0;
        table->checksum = g_ascii_strtoull(words[2], NULL, 16);
        table->mended = strcmp(words[3], "-") != 0;
        table->lost_bytes = g_ascii_strtoull(words[3], NULL, 10);
        table->noted_s = g_ascii_strtoll(words[4], NULL, 10);
        table->why = g_strdup(words[5]);
    }
    g_strfreev(words);
    return table;
}

static void table_write(const Table *table, GString *out) {
    char checksum[17] = "-", lost[21] = "-";
    if (table->read) g_snprintf(checksum, sizeof checksum, "%016" G_GINT64_MODIFIER "x", table->checksum);
    if (table->mended) g_snprintf(lost, sizeof lost, "%" G_GUINT64_FORMAT, table->lost_bytes);
    const char *family = table->family < FAMILY_COUNT ? store_family_name(table->family) : "-";
    g_string_append_printf(out, "%s %s %s %s %" G_GINT64_FORMAT " %s\n", table->file, family, checksum, lost,
                           table->noted_s, table->why);
}

static void save(const RocksStore *store) {
    if (store->base.read_only) return;
    g_autofree char *path = g_build_filename(store->path, NOTE_FILE, NULL);
    if (store->unreadable->len == 0) {
        unlink(path);
        return;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < store->unreadable->len; i++) table_write(g_ptr_array_index(store->unreadable, i), text);
    g_file_set_contents_full(path, text->str, (gssize)text->len,
                             G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, NULL);
}

static Table *find(const RocksStore *store, const char *file) {
    for (guint i = 0; i < store->unreadable->len; i++) {
        Table *table = g_ptr_array_index(store->unreadable, i);
        if (strcmp(table->file, file) == 0) return table;
    }
    return NULL;
}

/* One of the family that keeps it from being compacted. */
static Table *find_in(const RocksStore *store, StoreFamily family) {
    for (guint i = 0; i < store->unreadable->len; i++) {
        Table *table = g_ptr_array_index(store->unreadable, i);
        if (table->family == family && !table->mended) return table;
    }
    return NULL;
}

static void set_compacted(const RocksStore *store, StoreFamily family, gboolean compacted) {
    static const char *const name = "disable_auto_compactions";
    const char *value = compacted ? "false" : "true";
    char *text = NULL;
    rocksdb_set_options_cf(store->db, store->families[family], 1, &name, &value, &text);
    rocksdb_free(text); /* of a database that takes nothing any more; the next one knows by the notes */
}

/* Strikes out what is no part of the store. */
static void find_families(const RocksStore *store) {
    const rocksdb_livefiles_t *files = rocksdb_livefiles(store->db);
    for (guint i = store->unreadable->len; i > 0; i--) {
        Table *table = g_ptr_array_index(store->unreadable, i - 1);
        const StoreFamily family = family_of(files, table->file);
        if (family != FAMILY_COUNT)
            table->family = family;
        else if (!table->mended) /* which may have been merged since */
            g_ptr_array_remove_index(store->unreadable, i - 1);
    }
    rocksdb_livefiles_destroy(files);
}

static void strike_passed(const RocksStore *store) {
    for (guint i = store->unreadable->len; i > 0; i--) {
        if (has_passed(store, g_ptr_array_index(store->unreadable, i - 1)))
            g_ptr_array_remove_index(store->unreadable, i - 1);
    }
}

/* ---- opening ---- */

void unreadable_init(RocksStore *store) {
    pthread_mutex_init(&store->unreadable_lock, NULL);
    store->unreadable = g_ptr_array_new_with_free_func(table_free);
}

void unreadable_clear(RocksStore *store) {
    g_ptr_array_unref(store->unreadable);
    pthread_mutex_destroy(&store->unreadable_lock);
}

/* TRUE: some are left that cannot be mended. */
static gboolean mend(const RocksStore *store) {
    gboolean left = FALSE;
    for (guint i = 0; i < store->unreadable->len; i++) {
        Table *table = g_ptr_array_index(store->unreadable, i);
        TableMended mended;
        if (table->mended) continue;
        if (table_mend(store->path, table->file, &mended, NULL)) {
            table->mended = TRUE;
            table->lost_bytes += mended.lost_bytes;
        } else {
            table->earlier = left = TRUE;
        }
    }
    return left;
}

void unreadable_load(RocksStore *store) {
    g_autofree char *path = g_build_filename(store->path, NOTE_FILE, NULL), *text = NULL;
    if (store->base.read_only || !g_file_get_contents(path, &text, NULL, NULL)) return;
    char **lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line != NULL; line++) {
        Table *table = table_parse(*line);
        if (table != NULL) g_ptr_array_add(store->unreadable, table);
    }
    g_strfreev(lines);

    strike_passed(store);
    const gboolean left = mend(store);
    save(store); /* whatever becomes of the opening */
    for (guint i = 0; i < FAMILY_COUNT; i++)
        rocksdb_options_set_disable_auto_compactions(store->options.family[i], left);
    /* Tables that cannot even be opened: the others can. */
    if (left) rocksdb_options_set_paranoid_checks(store->options.family[FAMILY_META], 0);
}

void unreadable_settle(RocksStore *store) {
    if (store->base.read_only) return;
    pthread_mutex_lock(&store->unreadable_lock);
    const gboolean any = rocksdb_options_get_disable_auto_compactions(store->options.family[FAMILY_META]);
    find_families(store);
    for (StoreFamily i = 0; any && i < FAMILY_COUNT; i++)
        if (find_in(store, i) == NULL) set_compacted(store, i, TRUE);
    save(store);
    pthread_mutex_unlock(&store->unreadable_lock);
}

/* ---- what RocksDB says ---- */

/* The name of the table in it, or NULL. Of failed reads alone: a table that cannot be written is no part of the store.
 */
static char *table_in(const char *text) {
    if (strstr(text, "Corruption") == NULL && strstr(text, "While pread") == NULL) return NULL;
    const char *end = strstr(text, TABLE_END), *begin = end;
    while (begin > text && g_ascii_isdigit(begin[-1])) begin--;
    return begin == end ? NULL : g_strndup(begin, (gsize)(end - begin) + strlen(TABLE_END));
}

static Table *table_new(const char *file) {
    Table *table = g_new0(Table, 1);
    table->file = g_strdup(file);
    table->noted_s = clock_wall_ns(clock_system()) / NS_PER_SEC;
    table->family = FAMILY_COUNT;
    return table;
}

static void describe(const RocksStore *store, Table *table, const char *text) {
    /* Of one that a read error hides the bytes are unknown: when they can be read, all is well again. */
    table->read = strstr(text, "Corruption") != NULL && table_checksum(store, table->file, &table->checksum);
    table->mended = FALSE;
    g_free(table->why);
    table->why = g_strndup(text, WHY_MAX_BYTES);
    g_strdelimit(table->why, "\n\r", ' ');
}

/* New, or mended and damaged again. */
static void note(RocksStore *store, Table *table, const char *text) {
    describe(store, table, text);
    if (store->db != NULL) {
        const rocksdb_livefiles_t *files = rocksdb_livefiles(store->db);
        table->family = family_of(files, table->file);
        rocksdb_livefiles_destroy(files);
        if (table->family != FAMILY_COUNT && !store->base.read_only) set_compacted(store, table->family, FALSE);
    }
    save(store);
}

gboolean unreadable_note(RocksStore *store, const char *text) {
    g_autofree char *file = table_in(text);
    if (file == NULL) return FALSE;
    pthread_mutex_lock(&store->unreadable_lock);
    Table *table = find(store, file);
    const gboolean known = table != NULL && !table->mended, earlier = known && table->earlier;
    if (table == NULL) g_ptr_array_add(store->unreadable, table = table_new(file));
    if (!known) note(store, table, text);
    pthread_mutex_unlock(&store->unreadable_lock);
    return earlier;
}

gboolean unreadable_check(RocksStore *store, StoreFamily family, GError **error) {
    pthread_mutex_lock(&store->unreadable_lock);
    const Table *table = find_in(store, family);
    if (table != NULL)
        fail(error, PLUMB_ERROR_CORRUPT, "store %s: nothing of its family '%s' is rewritten while %s cannot be read",
             store->path, store_family_name(family), table->file);
    pthread_mutex_unlock(&store->unreadable_lock);
    return table == NULL;
}

/* ---- past what cannot be read ---- */

/* The first bytes of a key: of keys that go on, those that begin alike count as one. */
__extension__ typedef unsigned __int128 KeyNumber;

static KeyNumber number_of(Bytes key) {
    KeyNumber number = 0;
    for (gsize i = 0; i < sizeof number; i++)
        number = number << 8 | (i < key.size_bytes ? ((const guint8 *)key.data)[i] : 0);
    return number;
}

typedef struct Search {
    rocksdb_iterator_t *at;
    KeyNumber from;
    gboolean backward;
} Search;

static void seek_to(rocksdb_iterator_t *at, KeyNumber number, gboolean backward) {
    guint8 key[sizeof number];
    for (gsize i = sizeof key; i > 0; i--, number >>= 8) key[i - 1] = (guint8)number;
    (backward ? rocksdb_iter_seek_for_prev : rocksdb_iter_seek)(at, (const char *)key, sizeof key);
}

/* Behind all keys. RocksDB's iterator goes on to fail in a table once it has failed there, until it was here. */
static void seek_end(rocksdb_iterator_t *at) { seek_to(at, ~(KeyNumber)0, FALSE); }

/* TRUE: so far away it can be read, or there is nothing. */
static gboolean seek_away(const Search *search, KeyNumber distance) {
    seek_end(search->at);
    seek_to(search->at, search->backward ? search->from - distance : search->from + distance, search->backward);
    char *text = NULL;
    rocksdb_iter_get_error(search->at, &text);
    rocksdb_free(text);
    return text == NULL;
}

static gboolean is_unreadable(RocksStore *store, rocksdb_iterator_t *at) {
    char *text = NULL;
    rocksdb_iter_get_error(at, &text);
    if (text == NULL) return FALSE;
    g_autofree char *file = table_in(text);
    unreadable_note(store, text);
    rocksdb_free(text);
    return file != NULL;
}

/* Which keys a block holds is not known when it cannot be read, so its end is looked for: in steps that double, and
 * then between the last two. What lies before the first block of a table of level 0 can be read as little as that. */
gboolean unreadable_skip(RocksStore *store, rocksdb_iterator_t *at, Bytes from, gboolean backward) {
    if (!store_skips() || !is_unreadable(store, at)) return FALSE;
    const Search search = {at, number_of(from), backward};
    const KeyNumber most = backward ? search.from : ~(KeyNumber)0 - search.from;

    KeyNumber bad = 0, good = 0;
    gboolean found = FALSE;
    for (KeyNumber step = 1; !found && good < most && allowance_goes_on_with(LOOK_BYTES); step *= 2) {
        bad = good;
        good = step < most - bad ? bad + step : most;
        found = seek_away(&search, good);
    }
    while (found && good - bad > 1 && allowance_goes_on_with(LOOK_BYTES)) {
        const KeyNumber middle = bad + (good - bad) / 2;
        if (seek_away(&search, middle))
            good = middle;
        else
            bad = middle;
    }

    store_skipped();
    if (found) return seek_away(&search, good) && rocksdb_iter_valid(at);
    seek_end(at); /* nothing more can be read there: that is the end */
    return FALSE;
}

/* ---- for all ---- */

void rocks_damages(Store *base, StoreDamageVisit visit, void *arg) {
    RocksStore *store = (RocksStore *)base;
    pthread_mutex_lock(&store->unreadable_lock);
    for (guint i = 0; i < store->unreadable->len; i++) {
        const Table *table = g_ptr_array_index(store->unreadable, i);
        if (table->family == FAMILY_COUNT) continue;
        const StoreDamage damage = {
            .file = table->file,
            .family = table->family,
            .noted_ns = table->noted_s * NS_PER_SEC,
            .why = table->why,
            .state = table->mended    ? DAMAGE_MENDED
                     : table->earlier ? DAMAGE_STAYS
                                      : DAMAGE_NEW,
            .lost_bytes = table->lost_bytes,
        };
        visit(arg, &damage);
    }
    pthread_mutex_unlock(&store->unreadable_lock);
}

void rocks_check_damages(Store *base) {
    RocksStore *store = (RocksStore *)base;
    gboolean damaged[FAMILY_COUNT];
    pthread_mutex_lock(&store->unreadable_lock);
    const guint before = store->unreadable->len;
    for (StoreFamily i = 0; i < FAMILY_COUNT; i++) damaged[i] = find_in(store, i) != NULL;

    strike_passed(store);
    find_families(store);
    for (StoreFamily i = 0; i < FAMILY_COUNT; i++)
        if (damaged[i] && find_in(store, i) == NULL) set_compacted(store, i, TRUE);
    if (store->unreadable->len != before) save(store);
    pthread_mutex_unlock(&store->unreadable_lock);
}
