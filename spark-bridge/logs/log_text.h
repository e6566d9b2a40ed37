/* Pieces of a log's line: borrowed, without a zero at their end. */
#pragma once

#include "common/base/bytes.h"

typedef struct LogText {
    const char *data;
    gsize length;
} LogText;

static inline LogText log_text(Bytes bytes) { return (LogText){bytes.data, bytes.size_bytes}; }
static inline LogText log_text_between(const char *begin, const char *end) {
    return (LogText){begin, (gsize)(end - begin)};
}

/* Without blanks at both ends. */
LogText log_text_trimmed(LogText text);
gboolean log_text_is(LogText text, const char *word);
gboolean log_text_begins(LogText text, const char *word);
/* Where the word begins; NULL: nowhere. */
const char *log_text_find(LogText text, const char *word);
/* What comes after the begin of that many bytes. */
LogText log_text_after(LogText text, gsize bytes);
/* A decimal number that the text is all of. */
gboolean log_text_number(LogText text, gint64 *value);
/* The same, not below 0. */
gboolean log_text_natural(LogText text, gint64 *value);
