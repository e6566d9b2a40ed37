#include "receiver/traces/unstored.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analyzer/query/shared/trace_view.h"
#include "common/base/error.h"
#include "common/wire/json/span_json.h"

static gboolean append(const char *path, const GString *text, GError **error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return fail_errno(error, errno, "cannot open %s", path);
    gboolean good = TRUE;
    for (gsize at = 0; good && at < text->len;) {
        ssize_t done = write(fd, text->str + at, text->len - at);
        if (done >= 0)
            at += (gsize)done;
        else if (errno != EINTR)
            good = fail_errno(error, errno, "cannot write to %s", path);
    }
    if (good && fdatasync(fd) != 0) good = fail_errno(error, errno, "cannot sync %s", path);
    close(fd);
    return good;
}

gboolean unstored_write(Archive *archive, const char *folder, Bytes records, char **file, GError **error) {
    g_autoptr(SpanBatch) batch = batch_new();
    const guint8 *at = records.data;
    for (gsize left = records.size_bytes; left > 0;) {
        const SpanRec *span = (const SpanRec *)at;
        query_span_to_batch(archive, span, batch);
        at += span->size_bytes;
        left -= span->size_bytes;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, text);
    g_autofree char *path = g_build_filename(folder, "unstored.jsonl", NULL);
    if (!append(path, text, error)) return FALSE;
    *file = g_steal_pointer(&path);
    return TRUE;
}
