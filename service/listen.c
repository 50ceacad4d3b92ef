/* listen.c - sockets that connections come to. */
#include "service/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

/* A socket address for the text; the length, 0 when it is none. */
static socklen_t read_address(const char *text, size_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        return sizeof(*v4);
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        return sizeof(*v6);
    }
    return 0;
}

static enum error_code bind_failed(const char *bind, size_t port, const char *prefix,
                                   struct error *err)
{
    const bool admin = *prefix;
    const char *field = admin ? "/admin_port" : "/port";

    if (errno == EADDRINUSE)
        return fail(err, ERR_CONFLICT, field,
                    "port %zu of %s is taken by another program; choose another with "
                    "%s or %s (0: any free one)",
                    port, bind, admin ? "--admin-port" : "--port",
                    admin ? "GRIDPLAN_ADMIN_PORT" : "GRIDPLAN_PORT");
    if (errno == EACCES)
        return fail(err, ERR_CONFLICT, field,
                    "port %zu needs privileges; choose one above 1023 with %s or %s",
                    port, admin ? "--admin-port" : "--port",
                    admin ? "GRIDPLAN_ADMIN_PORT" : "GRIDPLAN_PORT");
    if (errno == EADDRNOTAVAIL)
        return fail(err, ERR_CONFLICT, admin ? "/admin_bind" : "/bind",
                    "%s is no address of this machine; see %s", bind,
                    admin ? "--admin-bind" : "--bind");
    return fail(err, ERR_CONFLICT, field, "cannot listen on %s port %zu: %s", bind, port,
                strerror(errno));
}

enum error_code listen_tcp(const char *bind_to, size_t port, const char *prefix, int *fd,
                           int *bound_port, struct error *err)
{
    struct sockaddr_storage address;
    socklen_t length = read_address(bind_to, port, &address);
    int on = 1, off = 0;

    if (length == 0)
        return fail(err, ERR_INVALID, *prefix ? "/admin_bind" : "/bind",
                    "'%s' is no address", bind_to);
    *fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return bind_failed(bind_to, port, prefix, err);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address.ss_family == AF_INET6)
        setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(*fd, (struct sockaddr *)&address, length) != 0 || listen(*fd, BACKLOG) != 0)
        return bind_failed(bind_to, port, prefix, err);
    length = sizeof(address);
    getsockname(*fd, (struct sockaddr *)&address, &length);
    *bound_port =
        ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                            : ((struct sockaddr_in *)&address)->sin_port);
    return OK;
}

/* ---- sockets of this machine ---- */

static enum error_code unix_failed(const char *path, struct error *err)
{
    return fail(err, ERR_CONFLICT, "/unix_socket", "cannot listen at %s: %s", path,
                strerror(errno));
}

/* Takes away what a process that has ended left behind. */
static enum error_code make_way(int fd, const struct sockaddr_un *address,
                                struct error *err)
{
    struct stat there;

    if (lstat(address->sun_path, &there) != 0)
        return errno == ENOENT ? OK : unix_failed(address->sun_path, err);
    if (!S_ISSOCK(there.st_mode))
        return fail(err, ERR_CONFLICT, "/unix_socket", "%s is there and no socket",
                    address->sun_path);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
        errno != ECONNREFUSED)
        return fail(err, ERR_CONFLICT, "/unix_socket",
                    "another process listens at %s; choose another with --unix-socket",
                    address->sun_path);
    return unlink(address->sun_path) == 0 ? OK : unix_failed(address->sun_path, err);
}

enum error_code listen_unix(const char *path, int *fd, struct unix_path *made,
                            struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat there;
    mode_t mask;
    int failed, probe;

    if (strlen(path) > UNIX_PATH_MAX_BYTES)
        return fail(err, ERR_INVALID, "/unix_socket", "more than %d bytes",
                    UNIX_PATH_MAX_BYTES);
    strcpy(address.sun_path, path);
    probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0 || probe < 0) {
        close(probe);
        return unix_failed(path, err);
    }
    failed = make_way(probe, &address, err) != OK;
    close(probe);
    if (failed)
        return err->code;
    mask = umask(0177); /* never for a moment open to others */
    failed = bind(*fd, (struct sockaddr *)&address, sizeof(address)) != 0;
    umask(mask);
    if (failed || lstat(path, &there) != 0 || listen(*fd, BACKLOG) != 0)
        return unix_failed(path, err);
    *made = (struct unix_path){path, (unsigned long)there.st_dev,
                               (unsigned long)there.st_ino};
    return OK;
}

void listen_unix_remove(struct unix_path *made)
{
    struct stat there;

    if (made->path && lstat(made->path, &there) == 0 &&
        (unsigned long)there.st_dev == made->device &&
        (unsigned long)there.st_ino == made->inode)
        unlink(made->path);
    made->path = NULL;
}
