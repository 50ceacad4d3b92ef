/* listen.h - sockets that connections come to. */
#ifndef GRIDPLAN_LISTEN_H
#define GRIDPLAN_LISTEN_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { UNIX_PATH_MAX_BYTES = 107 };

/* A TCP socket on a numeric address; port 0: any free one, which *port then says.
 * `prefix` is of the settings' names in messages: "" or "admin_". ERR_CONFLICT: it is
 * taken. */
enum error_code listen_tcp(const char *bind, size_t port, const char *prefix, int *fd,
                           int *bound_port, struct error *err);

/* The file of a socket, to be removed by whoever made it. */
struct unix_path {
    const char *path; /* NULL: none */
    unsigned long device, inode;
};

/* A socket at `path`, which must stay, for this user alone (mode 0600). What a process
 * that has ended left there is replaced; ERR_CONFLICT: somebody listens there, or it is
 * something else. */
enum error_code listen_unix(const char *path, int *fd, struct unix_path *made,
                            struct error *err);

/* Removes the file if it is still the one that was made. */
void listen_unix_remove(struct unix_path *made);

#endif
