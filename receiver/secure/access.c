#include "receiver/secure/access.h"

gboolean access_suffices(guint roles, guint needed) {
    if (needed == ACCESS_ANYBODY || (roles & ACCESS_ADMIN) != 0) return TRUE;
    if (needed == ACCESS_METRICS && (roles & ACCESS_READ) != 0) return TRUE;
    return (roles & needed) != 0;
}
