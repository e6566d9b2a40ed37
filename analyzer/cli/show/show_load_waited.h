/* Whom the operations of a traced load waited for, as the report of the load says it: "waited" of its document. */
#pragma once

#include "analyzer/cli/show/show.h"

/* One or two sentences: where most of the wait was, and in which function of which process. A new string; NULL: the
 * load was not traced. */
char *show_load_verdict(const json_t *document, const Style *style);
/* Tables of whom they waited for, and of the functions. */
void show_load_waited(const json_t *document, const Style *style, GString *out);
