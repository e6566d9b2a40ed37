/* What the head of an answer says beside its length: lines that end in CR LF. And the body of an error. */
#pragma once

#include <glib.h>

/* Of answers to questions, of the page's files, of those that never change, of a page that is made for who asks. */
extern const char answer_security_lines[], answer_page_lines[], answer_lasting_lines[], answer_own_lines[];

/* Of an answer that depends on who asks; a new string. tag: 0 for none. */
char *answer_content_lines(guint64 tag, gboolean gzipped);
/* Is the answer of that tag among those that who asks has (If-None-Match; NULL: none)? */
gboolean answer_is_known(const char *known, guint64 tag);

/* {"error": message}; a new reference. */
GBytes *answer_error_body(const char *message);
