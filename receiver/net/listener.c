#include "receiver/net/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/error.h"

static gboolean split(const char *address, char **host, char **port) {
    const char *colon = strrchr(address, ':');
    if (!colon || colon == address || colon[1] == '\0') return FALSE;
    char *end;
    guint64 number = g_ascii_strtoull(colon + 1, &end, 10);
    if (*end != '\0' || !g_ascii_isdigit(colon[1]) || number > 65535) return FALSE;
    gsize length = (gsize)(colon - address);
    if (address[0] == '[' && address[length - 1] == ']')
        *host = g_strndup(address + 1, length - 2);
    else if (!memchr(address, ':', length))
        *host = g_strndup(address, length);
    else
        return FALSE;
    *port = g_strdup(colon + 1);
    return TRUE;
}

static char *name_of(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return g_strdup("?");
    return g_strdup_printf(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static gboolean fail_bind(int err, const char *address, const char *option, GError **error) {
    const char *port = strrchr(address, ':') + 1;
    if (err == EADDRINUSE)
        return fail(error, PLUMB_ERROR_BUSY,
                    "%s is taken by another process: `ss -ltnp 'sport = :%s'` "
                    "shows which; stop it, or choose another port with %s",
                    address, port, option);
    return fail_errno(error, err, "cannot listen on %s (%s)", address, option);
}

gboolean listener_bind(const char *address, const char *option, int *fd, char **bound, GError **error) {
    g_autofree char *host = NULL, *port = NULL;
    if (!split(address, &host, &port))
        return fail(error, PLUMB_ERROR_CONFIG, "%s: '%s' is no address: write host:port or [v6]:port", option, address);

    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
    int result = getaddrinfo(host, port, &hints, &found);
    if (result != 0)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: cannot find '%s': %s", option, host, gai_strerror(result));

    int sock = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int err = sock < 0 ? errno : 0;
    int on = 1;
    if (sock >= 0) setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (sock >= 0 && bind(sock, found->ai_addr, found->ai_addrlen) != 0) err = errno;
    freeaddrinfo(found);

    if (err != 0) {
        if (sock >= 0) close(sock);
        return fail_bind(err, address, option, error);
    }

    *fd = sock;
    *bound = name_of(sock);
    return TRUE;
}

gboolean listener_listen(int fd, const char *bound, const char *option, GError **error) {
    return listen(fd, SOMAXCONN) == 0 || fail_bind(errno, bound, option, error);
}
