#include "analyzer/cli/format/style.h"

#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Widths a terminal may claim: below, tables would be all ellipses; above, it is no terminal that people look at. */
#define MIN_WIDTH 40
#define MAX_WIDTH 10000

const char *const colour_names[] = {"none", "red", "green", "yellow", "blue", "magenta", "cyan", "white", NULL};

static const char *const codes[COLOUR_COUNT] = {
    [COLOUR_NONE] = "",           [COLOUR_RED] = "\033[31m",   [COLOUR_GREEN] = "\033[32m",
    [COLOUR_YELLOW] = "\033[33m", [COLOUR_BLUE] = "\033[34m",  [COLOUR_MAGENTA] = "\033[35m",
    [COLOUR_CYAN] = "\033[36m",   [COLOUR_WHITE] = "\033[37m", [COLOUR_BOLD] = "\033[1m",
    [COLOUR_DIM] = "\033[2m"};

Style style_plain(void) {
    return (Style){.width = 0,
                   .utf8 = TRUE,
                   .colour = FALSE,
                   .progress = FALSE,
                   .roles = {[ROLE_LOCAL] = COLOUR_YELLOW,
                             [ROLE_CLIENT] = COLOUR_WHITE,
                             [ROLE_NAMENODE] = COLOUR_GREEN,
                             [ROLE_DATANODE] = COLOUR_BLUE,
                             [ROLE_JOURNALNODE] = COLOUR_CYAN}};
}

static guint terminal_width(void) {
    const char *columns = g_getenv("COLUMNS");
    guint64 value = 0;
    if (columns != NULL && g_ascii_string_to_unsigned(columns, 10, MIN_WIDTH, MAX_WIDTH, &value, NULL))
        return (guint)value;
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= MIN_WIDTH)
        return size.ws_col;
    return isatty(STDOUT_FILENO) ? 80 : 0;
}

static gboolean wants_colour(ColourWhen when) {
    if (when != COLOUR_AUTO) return when == COLOUR_ALWAYS;
    const char *off = g_getenv("NO_COLOR"), *term = g_getenv("TERM");
    if (off != NULL && *off != '\0') return FALSE;
    return isatty(STDOUT_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
}

Style style_detect(ColourWhen when) {
    Style style = style_plain();
    style.width = terminal_width();
    style.utf8 = g_ascii_strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
    style.colour = wants_colour(when);
    style.progress = isatty(STDERR_FILENO);
    return style;
}

void style_append(const Style *style, Colour colour, const char *text, GString *out) {
    gboolean on = style->colour && colour != COLOUR_NONE && *text != '\0';
    if (on) g_string_append(out, codes[colour]);
    g_string_append(out, text);
    if (on) g_string_append(out, "\033[0m");
}
