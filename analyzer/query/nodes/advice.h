/* What can be done about a host that is slow. */
#pragma once

#include <jansson.h>

#include "analyzer/diagnosis/nodes/work_class.h"

/* Sentences, the one to try first at the front. Each names the setting or the command. A new list. */
json_t *advice_json(WorkClass class, Role role);
/* The same, about a link that is slow between two hosts only. */
json_t *advice_link_json(void);
