/* Documents count against the allowance (common/base/allowance.h) of the thread that makes them. */
#pragma once

/* From then on, in the whole process. Past the allowance nothing more is allocated for JSON: documents then lack
 * values, which jansson stands, and allowance_check() tells that they are of no use. */
void json_memory_counted(void);
