/* What the head of an answer says beside its length: lines that end in CR LF. */
#pragma once

#include "receiver/http/server.h"

/* Of answers to questions, of the page's files, of those that never change, of a page that is made for who asks. */
extern const char answer_security_lines[], answer_page_lines[], answer_lasting_lines[], answer_own_lines[];

/* Of an answer that depends on who asks; a new string. */
char *answer_content_lines(const HttpContent *content);
/* Does who asks have the answer of that tag (0: it has none) already? */
gboolean answer_is_known(const HttpRequest *request, guint64 tag);
