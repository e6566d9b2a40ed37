#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define TOKEN_BYTES 32u
#define DAYS_MOST   36500u

/* "plumb_" and 43 characters for 256 random bits, which nobody can guess. */
static char *make_token(void) {
    guint8 bytes[TOKEN_BYTES];
    while (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        if (errno != EINTR) g_error("no random bytes: %s", g_strerror(errno));
    g_autofree char *coded = g_base64_encode(bytes, sizeof bytes);
    g_strdelimit(coded, "+", '-');
    g_strdelimit(coded, "/", '_');
    coded[strcspn(coded, "=")] = '\0';
    return g_strconcat("plumb_", coded, NULL);
}

static char *last_day(guint64 days) {
    if (days == 0) return g_strdup("never");
    g_autoptr(GDateTime) now = g_date_time_new_from_unix_utc(clock_wall_ns(clock_system()) / NS_PER_SEC);
    g_autoptr(GDateTime) end = g_date_time_add_days(now, (gint)days);
    return g_date_time_format(end, "%Y-%m-%d");
}

/* The line goes to the end of the file, which is made for its owner alone. */
static gboolean append_line(const char *path, const char *line, GError **error) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return fail_errno(error, errno, "%s", path);
    const gboolean written = write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    const int err = errno;
    if (close(fd) == 0 && written) return TRUE;
    return fail_errno(error, err, "%s: the line of the token", path);
}

static gboolean check(Invocation *invocation, CliExit *exit_code) {
    const char *name = invocation->arguments[1];
    if (strcmp(invocation->arguments[0], "new") != 0)
        *exit_code = invocation_usage(invocation, "'%s' is nothing to do: plumb token new NAME --role ROLE",
                                      invocation->arguments[0]);
    else if (option_text(invocation, "role") == NULL)
        *exit_code = invocation_usage(invocation, "what may it do? --role write, read, metrics, peer or admin");
    else if (name[0] == '\0' || strlen(name) > 64 || strcmp(name, "token") == 0 ||
             name[strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-")] != '\0')
        *exit_code =
            invocation_usage(invocation, "'%s' is no name: letters, digits, '.', '_' and '-', not 'token'", name);
    else if (option_number(invocation, "days") > DAYS_MOST)
        *exit_code = invocation_usage(invocation, "--days takes %u at most; 0: never", DAYS_MOST);
    else
        return TRUE;
    return FALSE;
}

static CliExit run(Invocation *invocation) {
    CliExit exit_code = CLI_OK;
    if (!check(invocation, &exit_code)) return exit_code;
    g_autofree char *token = make_token(), *until = last_day(option_number(invocation, "days"));
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, token, -1);
    g_autofree char *line =
        g_strdup_printf("%s %s %s %s\n", invocation->arguments[1], option_text(invocation, "role"), hash, until);
    const char *path = option_text(invocation, "tokens");
    GError *error = NULL;
    if (path != NULL && !append_line(path, line, &error)) return invocation_failed(invocation, error);
    g_autoptr(GString) text = g_string_new(token);
    g_string_append_c(text, '\n');
    if (path == NULL) g_string_append_printf(text, "# for the file of auth.tokens:\n%s", line);
    return invocation_print_text(invocation, text);
}

static const Option options[] = {
    {"role", OPTION_CHOICE, "write|read|metrics|peer|admin", NULL, "what who has it may do (docs/security.md)", NULL},
    {"days", OPTION_NUMBER, "N", NULL, "it is good for so many days; 0: for ever", "365"},
    {"tokens", OPTION_TEXT, "FILE", NULL, "add its line to this file, that of plumbd's auth.tokens", NULL},
    OPTION_THE_END,
};

const Command command_token = {
    .name = "token",
    .arguments = "new NAME",
    .min_arguments = 2,
    .max_arguments = 2,
    .missing = "say new, and whom it is for: plumb token new bridge --role write",
    .summary = "make a token to log in with",
    .about =
        "Makes a token by which a sender or a reader logs in to plumbd, and prints it: into a file that only who logs\n"
        "in may read. plumbd gets the line with its hash (--tokens, or copy it), and reads it within a minute.\n"
        "Asks no plumbd.",
    .example = "  plumb token new bridge --role write --tokens /etc/plumbline/tokens > bridge.token\n"
               "  plumb token new grafana --role read --days 90\n",
    .options = options,
    .server_only = TRUE,
    .asks_none = TRUE,
    .run = run,
};
