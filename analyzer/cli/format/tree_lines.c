#include "analyzer/cli/format/tree_lines.h"

#include <string.h>

typedef struct Strokes {
    const char *bar, *blank, *fork, *last;
} Strokes;

static const Strokes utf8_strokes = {"│  ", "   ", "├─ ", "└─ "};
static const Strokes ascii_strokes = {"|  ", "   ", "|- ", "`- "};

struct TreeLines {
    const Strokes *strokes;
    guint32 *depths;
    guint8 *more;     /* has the row a sibling further down? */
    gsize n, at;      /* at: rows begun */
    GByteArray *bars; /* per level above the current row: does a line go on there? */
};

TreeLines *tree_lines_new(const Style *style, const guint32 *depths, gsize n) {
    TreeLines *lines = g_new0(TreeLines, 1);
    lines->strokes = style->utf8 ? &utf8_strokes : &ascii_strokes;
    lines->depths = g_new(guint32, n);
    lines->more = g_new0(guint8, n);
    lines->n = n;
    lines->bars = g_byte_array_new();
    for (gsize i = 0; i < n; i++) lines->depths[i] = i == 0 ? 0 : MIN(depths[i], lines->depths[i - 1] + 1);
    /* From the last row to the first: was this depth seen since a lesser one? */
    g_autoptr(GByteArray) seen = g_byte_array_new();
    for (gsize i = n; i-- > 0;) {
        guint32 depth = lines->depths[i];
        guint old = seen->len;
        g_byte_array_set_size(seen, depth + 1);
        if (seen->len > old) memset(seen->data + old, 0, seen->len - old);
        lines->more[i] = seen->data[depth];
        seen->data[depth] = 1;
    }
    return lines;
}

void tree_lines_free(TreeLines *lines) {
    if (lines == NULL) return;
    g_free(lines->depths);
    g_free(lines->more);
    g_byte_array_unref(lines->bars);
    g_free(lines);
}

/* Level 0 has no lines of its own: roots stand at the margin. */
static void append_levels(const TreeLines *lines, guint32 from, guint32 to, GString *out) {
    for (guint32 level = MAX(from, 1); level < to; level++)
        g_string_append(out, lines->bars->data[level] ? lines->strokes->bar : lines->strokes->blank);
}

static guint32 first_drawn(guint32 depth) { return depth > TREE_LINES_LEVELS ? depth - TREE_LINES_LEVELS : 0; }

char *tree_lines_next(TreeLines *lines) {
    g_assert(lines->at < lines->n);
    gsize i = lines->at++;
    guint32 depth = lines->depths[i];
    GString *out = g_string_new(NULL);
    guint32 from = first_drawn(depth);
    if (from > 0) g_string_append_printf(out, "[+%u] ", from);
    append_levels(lines, from, depth, out);
    if (depth > 0) g_string_append(out, lines->more[i] ? lines->strokes->fork : lines->strokes->last);
    g_byte_array_set_size(lines->bars, depth + 1);
    lines->bars->data[depth] = lines->more[i];
    return g_string_free(out, FALSE);
}

char *tree_lines_below(const TreeLines *lines) {
    g_assert(lines->at > 0);
    gsize i = lines->at - 1;
    guint32 depth = lines->depths[i];
    gboolean has_child = i + 1 < lines->n && lines->depths[i + 1] > depth;
    GString *out = g_string_new(NULL);
    append_levels(lines, first_drawn(depth), depth + 1, out);
    g_string_append(out, has_child ? lines->strokes->bar : lines->strokes->blank);
    return g_string_free(out, FALSE);
}
