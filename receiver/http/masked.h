/* What is asked for, masked as what is stored is: so that it is found, and that the audit log does not say in clear
 * what the store does not. */
#pragma once

#include "common/model/mask.h"

/* Both: a new string. masker: NULL for nothing masked. */
char *masked_param(Masker *masker, const char *name, const char *value);
/* All of a query, decoded; NULL stays NULL. */
char *masked_query(Masker *masker, const char *query);
