#include "receiver/patience.h"

guint patience_parts(guint64 journal_bytes, guint64 limit_bytes) {
    const double used = (double)journal_bytes / (double)MAX(limit_bytes, 1);
    const double left = CLAMP((0.75 - used) / 0.5, 0, 1);
    return 1 + (guint)(left * (PATIENCE_PARTS - 1));
}
