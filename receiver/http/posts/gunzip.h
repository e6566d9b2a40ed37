/* What a body holds that was packed with gzip. */
#pragma once

#include "common/base/bytes.h"

/* Into 'out', which is emptied first. Errors: INPUT (no gzip, cut, something behind it), LIMIT (more than
 * most_bytes). */
gboolean gunzip(Bytes packed, gsize most_bytes, GByteArray *out, GError **error);
