/* Text that a peer or a file controls, made harmless for a terminal, a log, a page and a shell.
 *
 * Harmful are the characters that command a terminal (C0, DEL, C1), that begin a line of their own (also U+2028 and
 * U+2029), and that turn the direction of the text after them (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069), so that what a person reads is not what is there. */
#pragma once

#include <glib.h>

/* Enough of a message for a person to read. */
#define HARMLESS_LINE_BYTES 2000u

/* A copy that is one line: harmful characters become \n, \r, \t, \x1b or (those of more than a byte's value) '?', bytes
 * that are no UTF-8 U+FFFD, and with ascii_only all else that is not ASCII '?'. Text that would be longer than
 * most_bytes is cut there, which "..." marks; 0: never cut. */
char *harmless_text(const char *text, gboolean ascii_only, gsize most_bytes);

/* As above, for one line of a log or of standard error: not ascii_only, HARMLESS_LINE_BYTES. */
char *harmless_line(const char *text);

/* As a word of a command that is copied into a shell: in quotes, unless it means nothing there. A new string. */
char *harmless_word(const char *text);

/* The harmful character of several bytes, or DEL, that [at, end) begins with: its bytes, and in *c itself; 0: none.
 * For writers of JSON, in which C0 is escaped anyway. */
gsize harmless_json_find(const char *at, const char *end, gunichar *c);

/* Appends JSON text, or a piece of it that cuts no character, with each such character as \uXXXX: the same value once
 * it is parsed. */
void harmless_json_append(GString *out, const char *json, gsize size_bytes);
