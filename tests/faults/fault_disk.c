#define _GNU_SOURCE
#include "tests/faults/fault_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Range {
    off_t from, to;
} Range;

typedef struct File {
    guint generation; /* files that had this inode number before */
    GArray *dirty;    /* Range: written since the last sync */
} File;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *folder, *copy;
static GHashTable *files; /* inode number to File */

void fault_disk_begin(const char *below, const char *into) {
    char path[PATH_MAX];
    folder = g_strdup(below);
    copy = g_strdup(into);
    files = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_snprintf(path, sizeof path, "%s/files", copy);
    g_mkdir_with_parents(path, 0700);
    g_snprintf(path, sizeof path, "%s/names", copy);
    g_mkdir_with_parents(path, 0700);
}

gboolean fault_disk_runs(void) { return files != NULL; }

static File *file_of(ino_t number) {
    const gint64 key = (gint64)number;
    File *file = g_hash_table_lookup(files, &key);
    if (file != NULL) return file;
    file = g_new0(File, 1);
    file->dirty = g_array_new(FALSE, FALSE, sizeof(Range));
    g_hash_table_insert(files, g_memdup2(&key, sizeof key), file);
    return file;
}

/* FALSE: no file of a folder, but a pipe or a socket. */
static gboolean look(int fd, struct stat *info) {
    return fstat(fd, info) == 0 && (S_ISREG(info->st_mode) || S_ISDIR(info->st_mode));
}

void fault_disk_opened(int fd, gboolean made) {
    struct stat info;
    if (!made || !look(fd, &info)) return;
    pthread_mutex_lock(&lock);
    File *file = file_of(info.st_ino);
    file->generation++;
    g_array_set_size(file->dirty, 0);
    pthread_mutex_unlock(&lock);
}

void fault_disk_written(int fd, off_t offset, gsize size_bytes) {
    struct stat info;
    if (!look(fd, &info)) return;
    pthread_mutex_lock(&lock);
    GArray *dirty = file_of(info.st_ino)->dirty;
    Range *last = dirty->len > 0 ? &g_array_index(dirty, Range, dirty->len - 1) : NULL;
    const Range range = {offset, offset + (off_t)size_bytes};
    if (last != NULL && range.from >= last->from && range.from <= last->to)
        last->to = MAX(last->to, range.to);
    else
        g_array_append_val(dirty, range);
    pthread_mutex_unlock(&lock);
}

/* ---- with the lock held ---- */

static void copy_path(char path[PATH_MAX], ino_t number) {
    g_snprintf(path, PATH_MAX, "%s/files/%lu.%u", copy, (gulong)number, file_of(number)->generation);
}

static void copy_range(int from, int to, Range range) {
    static char buffer[1 << 16];
    for (off_t at = range.from; at < range.to;) {
        ssize_t n = pread(from, buffer, MIN(sizeof buffer, (gsize)(range.to - at)), at);
        if (n <= 0) break;
        if (pwrite(to, buffer, (gsize)n, at) != n) abort();
        at += n;
    }
}

static void save_file(int fd, const struct stat *info) {
    char path[PATH_MAX], own[64];
    copy_path(path, info->st_ino);
    g_snprintf(own, sizeof own, "/proc/self/fd/%d", fd); /* it may be open for writing only */
    const int from = open(own, O_RDONLY | O_CLOEXEC), to = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (from < 0 || to < 0) abort();
    GArray *dirty = file_of(info->st_ino)->dirty;
    for (guint i = 0; i < dirty->len; i++) copy_range(from, to, g_array_index(dirty, Range, i));
    g_array_set_size(dirty, 0);
    if (ftruncate(to, info->st_size) != 0) abort();
    close(from);
    close(to);
}

static void save_names(int fd) {
    char own[64], path[PATH_MAX] = {0}, name[PATH_MAX], file[2 * PATH_MAX];
    g_snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (readlink(own, path, sizeof path - 1) < 0 || strncmp(path, folder, strlen(folder)) != 0) return;
    g_strlcpy(name, path[strlen(folder)] ? path + strlen(folder) + 1 : "", sizeof name);
    g_strdelimit(name, "/", '%');
    g_snprintf(file, sizeof file, "%s/names/%s.new", copy, name[0] ? name : "%");
    FILE *out = fopen(file, "we");
    DIR *dir = opendir(path);
    if (out == NULL || dir == NULL) abort();
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_type == DT_REG)
            fprintf(out, "%lu.%u %s\n", (gulong)entry->d_ino, file_of(entry->d_ino)->generation, entry->d_name);
    closedir(dir);
    if (fclose(out) != 0) abort();
    char done[2 * PATH_MAX];
    g_strlcpy(done, file, sizeof done);
    done[strlen(done) - strlen(".new")] = '\0';
    if (rename(file, done) != 0) abort();
}

void fault_disk_synced(int fd) {
    struct stat info;
    if (!look(fd, &info)) return;
    pthread_mutex_lock(&lock);
    if (S_ISDIR(info.st_mode))
        save_names(fd);
    else
        save_file(fd, &info);
    pthread_mutex_unlock(&lock);
}

void fault_disk_lost(int fd) {
    struct stat info;
    if (!look(fd, &info)) return;
    pthread_mutex_lock(&lock);
    g_array_set_size(file_of(info.st_ino)->dirty, 0);
    pthread_mutex_unlock(&lock);
}
