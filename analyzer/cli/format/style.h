/* What the terminal can show: width, characters, colours. Found out once, then passed to everything that prints. */
#pragma once

#include "common/model/role.h"

typedef enum {
    COLOUR_NONE,
    COLOUR_RED,
    COLOUR_GREEN,
    COLOUR_YELLOW,
    COLOUR_BLUE,
    COLOUR_MAGENTA,
    COLOUR_CYAN,
    COLOUR_WHITE,
    COLOUR_BOLD,
    COLOUR_DIM,
    COLOUR_COUNT
} Colour;

typedef struct Style {
    guint width; /* columns; 0: no limit (not a terminal) */
    gboolean utf8;
    gboolean colour;
    gboolean progress; /* standard error is a terminal */
    Colour roles[ROLE_COUNT];
} Style;

typedef enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } ColourWhen;

/* No width limit, UTF-8, no colour, and the roles' usual colours: namenode green, datanode blue, client white, local
 * yellow, journalnode cyan. */
Style style_plain(void); /* for tests */
/* Of standard output and the environment: COLUMNS, NO_COLOR, TERM and the locale's character set. */
Style style_detect(ColourWhen when);

extern const char *const colour_names[]; /* NULL-terminated; those a configuration may name */

/* Appends text between the codes that turn a colour on and off; text alone when the style has no colours. */
void style_append(const Style *style, Colour colour, const char *text, GString *out);
