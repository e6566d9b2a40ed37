#include "spark-bridge/logs/log_text.h"

#include <errno.h>
#include <string.h>

LogText log_text_trimmed(LogText text) {
    const char *begin = text.data, *end = text.data + text.length;
    while (begin < end && g_ascii_isspace(*begin)) begin++;
    while (end > begin && g_ascii_isspace(end[-1])) end--;
    return log_text_between(begin, end);
}

gboolean log_text_is(LogText text, const char *word) {
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}

gboolean log_text_begins(LogText text, const char *word) {
    const gsize length = strlen(word);
    return text.length >= length && memcmp(text.data, word, length) == 0;
}

const char *log_text_find(LogText text, const char *word) {
    return text.length == 0 ? NULL : memmem(text.data, text.length, word, strlen(word));
}

LogText log_text_after(LogText text, gsize bytes) {
    const gsize skipped = MIN(bytes, text.length);
    return (LogText){text.data + skipped, text.length - skipped};
}

gboolean log_text_number(LogText text, gint64 *value) {
    char digits[24];
    if (text.length == 0 || text.length >= sizeof digits || g_ascii_isspace(text.data[0])) return FALSE;
    memcpy(digits, text.data, text.length);
    digits[text.length] = '\0';
    char *end;
    errno = 0;
    const gint64 read = g_ascii_strtoll(digits, &end, 10);
    /* A zero byte within the text would end the number early. */
    if (errno != 0 || end != digits + text.length || end == digits) return FALSE;
    *value = read;
    return TRUE;
}

gboolean log_text_natural(LogText text, gint64 *value) {
    gint64 read;
    if (!log_text_number(text, &read) || read < 0) return FALSE;
    *value = read;
    return TRUE;
}
