/* What can be done about a host that is slow. */
#pragma once

#include <jansson.h>

#include "analyzer/diagnosis/nodes/work_class.h"

/* Sentences, the one to try first at the front. Each names the setting or the command. A new list. */
json_t *advice_json(WorkClass class, Role role);
/* What comes before those, of a link that is slow between two hosts only. */
const char *advice_of_link(void);
