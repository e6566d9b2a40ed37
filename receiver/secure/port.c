#include "receiver/secure/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/error.h"

gboolean port_is_loopback(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return FALSE;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
    if (address.ss_family == AF_INET) return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (address.ss_family != AF_INET6) return FALSE;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) return v6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static gboolean has_login(const PortInfo *port) { return port->certificates || port->tokens || port->kerberos; }

gboolean port_is_open(const PortInfo *port) { return port->loopback || port->insecure; }

gboolean port_check(const PortInfo *port, GError **error) {
    if (port_is_open(port) || (port->tls && has_login(port))) return TRUE;
    if (port->bare)
        return fail(error, PLUMB_ERROR_CONFIG,
                    "%s: other hosts reach %s, and this protocol has neither TLS nor a login: listen on loopback "
                    "(127.0.0.1:PORT); where the network keeps strangers out, set listen.insecure = yes",
                    port->key, port->address);
    return fail(error, PLUMB_ERROR_CONFIG,
                "%s: other hosts reach %s, where there is %sno way to log in: set %s; or listen on loopback "
                "(127.0.0.1:PORT); where the network keeps strangers out, set listen.insecure = yes",
                port->key, port->address, port->tls ? "" : "no TLS and ",
                port->tls ? "auth.tokens, tls.clients or kerberos.keytab"
                          : "tls.certificate, tls.key, and auth.tokens, tls.clients or kerberos.keytab");
}

/* "login by certificate, token or Kerberos" */
static char *describe_logins(const PortInfo *port) {
    const char *ways[4], *const none = "no login";
    guint n = 0;
    if (port->certificates) ways[n++] = "certificate";
    if (port->tokens) ways[n++] = "token";
    if (port->kerberos) ways[n++] = "Kerberos";
    if (n == 0) return g_strdup(none);
    GString *text = g_string_new("login by ");
    for (guint i = 0; i < n; i++)
        g_string_append_printf(text, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", ways[i]);
    return g_string_free(text, FALSE);
}

char *port_describe(const PortInfo *port) {
    g_autofree char *logins = describe_logins(port);
    return g_strdup_printf("%s, %s, %s, %s", port->address,
                           port->loopback   ? "this machine only"
                           : port->insecure ? "INSECURE: open to other hosts (listen.insecure)"
                                            : "open to other hosts",
                           port->tls ? "TLS" : "no TLS", logins);
}

void port_clear(PortInfo *port) {
    g_free(port->address);
    *port = (PortInfo){0};
}
