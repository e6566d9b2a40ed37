#include "analyzer/cli/leash.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

gboolean leash_put_on(void) {
    guint64 holder = 0;
    const char *text = g_getenv("PLUMB_LEASH");
    if (text == NULL || !g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT32, &holder, NULL)) return TRUE;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == (pid_t)holder; /* it may have ended before */
}
