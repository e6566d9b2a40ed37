/* Listening sockets: bound early, so that a port that is taken stops the start before anything is made; listening only
 * when plumbd is ready to answer. */
#pragma once

#include <glib.h>

/* address: "host:port", "[v6]:port"; port 0: any free one. *fd is bound, non-blocking and closed on exec; *bound (to be
 * freed) is the address with the real port. Errors: CONFIG (not such an address), BUSY (taken; the message says how to
 * find by whom), IO. option names the setting in messages: "listen.thrift". */
gboolean listener_bind(const char *address, const char *option, int *fd, char **bound, GError **error);
gboolean listener_listen(int fd, const char *bound, const char *option, GError **error);
