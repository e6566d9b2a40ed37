/* A port that plumbd listens at, and who can do what there. What is open to other hosts needs TLS and a way to log in,
 * so that nobody reads along and nobody comes in unnamed; plumbd does not start without, unless it is told that this is
 * meant. A port on loopback is for this machine, and open to all on it. */
#pragma once

#include <glib.h>

typedef struct PortInfo {
    const char *name;  /* "thrift", "http" or "hrpc" */
    const char *key;   /* of the configuration: "listen.thrift" */
    char *address;     /* as bound; NULL: it is off */
    gboolean bare;     /* its protocol has neither TLS nor a login */
    gboolean loopback; /* only this machine reaches it */
    gboolean tls;
    gboolean certificates, tokens, kerberos; /* ways to log in */
    gboolean insecure;                       /* open to other hosts all the same, as listen.insecure says */
} PortInfo;

#define PORT_THRIFT 0u
#define PORT_HTTP   1u
#define PORT_HRPC   2u
#define PORTS       3u

/* Does a listening socket take connections of this machine alone? */
gboolean port_is_loopback(int fd);
/* CONFIG, and what to do: others can reach the port, and there is no TLS or no way to log in. */
gboolean port_check(const PortInfo *port, GError **error);
/* May somebody be there without a name? */
gboolean port_is_open(const PortInfo *port);
/* "127.0.0.1:9410, this machine only, no TLS, no login"; a new string. */
char *port_describe(const PortInfo *port);
void port_clear(PortInfo *port);
