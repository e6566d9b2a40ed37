/* A disk that is slow to sync, for one process (LD_PRELOAD): fdatasync() takes longer by so many milliseconds as the
 * file says that SLOW_SYNCS names; without it, none. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long milliseconds(void) {
    const char *path = getenv("SLOW_SYNCS");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    char text[16] = "";
    if (file == NULL) return 0;
    if (fgets(text, sizeof text, file) == NULL) text[0] = 0;
    fclose(file);
    return strtol(text, NULL, 10);
}

int fdatasync(int file) {
    const long ms = milliseconds();
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
    return (int)syscall(SYS_fdatasync, file);
}
