/* health.c - asks a running service whether it is well; for containers without curl. */
#include "service/health.h"

#include "service/clock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HOST_SIZE = 256, PORT_SIZE = 8, REQUEST_SIZE = 512, STATUS_LINE_BYTES = 12 };

static const double LIMIT_S = 3;

struct place {
    char host[HOST_SIZE], port[PORT_SIZE];
    bool v6;
};

/* ---- where to ask ---- */

/* "http://host:port/...", "http://[::1]:8080" */
static enum error_code read_url(const char *url, struct place *place, struct error *err)
{
    const char *host = url + 7, *end, *port;
    size_t length;

    if (strncasecmp(url, "http://", 7) != 0)
        return fail(err, ERR_INVALID, "--url", "'%.100s' does not begin with http://",
                    url);
    place->v6 = *host == '[';
    host += place->v6;
    length = strcspn(host, place->v6 ? "]" : ":/?#");
    end = host + length + (place->v6 && host[length] == ']');
    port = *end == ':' ? end + 1 : "80";
    if (length == 0 || length >= HOST_SIZE || (place->v6 && host[length] != ']') ||
        strspn(port, "0123456789") == 0 || strspn(port, "0123456789") >= PORT_SIZE)
        return fail(err, ERR_INVALID, "--url", "'%.100s' is not like http://host:port",
                    url);
    snprintf(place->host, sizeof(place->host), "%.*s", (int)length, host);
    snprintf(place->port, sizeof(place->port), "%.*s", (int)strspn(port, "0123456789"),
             port);
    return OK;
}

/* The listener of the settings; an address that stands for all is asked here. */
static void from_settings(const struct config *config, struct place *place)
{
    const char *bind =
        config->has_admin && *config->admin_bind ? config->admin_bind : config->bind;

    if (strcmp(bind, "0.0.0.0") == 0)
        bind = "127.0.0.1";
    else if (strcmp(bind, "::") == 0)
        bind = "::1";
    snprintf(place->host, sizeof(place->host), "%s", bind);
    snprintf(place->port, sizeof(place->port), "%zu",
             config->has_admin ? config->admin_port : config->port);
    place->v6 = strchr(bind, ':') != NULL;
}

/* ---- asking ---- */

/* Whether the socket is ready for `events` in time. */
static bool wait_for(int fd, short events, double end_s)
{
    struct pollfd p = {.fd = fd, .events = events};
    double left_s = end_s - clock_monotonic_s();

    if (left_s > 0 && poll(&p, 1, (int)(left_s * 1e3) + 1) > 0)
        return true;
    errno = ETIMEDOUT;
    return false;
}

static bool connect_in_time(int fd, const struct sockaddr *to, socklen_t length,
                            double end_s)
{
    int problem = 0;
    socklen_t size = sizeof(problem);

    if (connect(fd, to, length) == 0)
        return true;
    if (errno != EINPROGRESS || !wait_for(fd, POLLOUT, end_s))
        return false;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    errno = problem;
    return problem == 0;
}

static int connect_unix(const char *path, double end_s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof(to.sun_path)) {
        errno = ENAMETOOLONG;
    } else if (fd >= 0) {
        strcpy(to.sun_path, path);
        if (connect_in_time(fd, (struct sockaddr *)&to, sizeof(to), end_s))
            return fd;
    }
    close(fd);
    return -1;
}

static int connect_tcp(const struct place *place, double end_s)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int fd = -1;

    if (getaddrinfo(place->host, place->port, &hints, &list) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next) {
        fd = socket(i->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd >= 0 && !connect_in_time(fd, i->ai_addr, i->ai_addrlen, end_s)) {
            int problem = errno;

            close(fd);
            errno = problem;
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* The status of the answer; 0, with errno: none. */
static int exchange(int fd, const char *request, double end_s)
{
    char answer[STATUS_LINE_BYTES + 1] = {0};
    size_t length = 0;

    if (send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
        return 0;
    while (length < STATUS_LINE_BYTES) {
        ssize_t n;

        if (!wait_for(fd, POLLIN, end_s))
            return 0;
        n = recv(fd, answer + length, STATUS_LINE_BYTES - length, 0);
        if (n <= 0) {
            errno = n == 0 ? ECONNRESET : errno;
            return 0;
        }
        length += (size_t)n;
    }
    errno = EPROTO;
    return strncmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}

enum error_code health_ask(const struct health_target *target,
                           const struct config *config, bool *healthy, char *line,
                           struct error *err)
{
    double end_s = clock_monotonic_s() + LIMIT_S;
    const char *path = target->ready ? "/readyz" : "/livez";
    char request[REQUEST_SIZE], where[HOST_SIZE + 32];
    struct place place;
    int fd, status;

    if (target->url && target->unix_socket)
        return fail(err, ERR_INVALID, "", "--url and --unix: one of them");
    if (target->unix_socket) {
        snprintf(where, sizeof(where), "%s", target->unix_socket);
        snprintf(request, sizeof(request),
                 "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
        fd = connect_unix(target->unix_socket, end_s);
    } else {
        if (target->url)
            TRY(read_url(target->url, &place, err));
        else
            from_settings(config, &place);
        snprintf(where, sizeof(where), "%s%s%s:%s", place.v6 ? "[" : "", place.host,
                 place.v6 ? "]" : "", place.port);
        snprintf(request, sizeof(request),
                 "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, where);
        fd = connect_tcp(&place, end_s);
    }
    status = fd < 0 ? 0 : exchange(fd, request, end_s);
    *healthy = status == 200;
    if (status)
        snprintf(line, HEALTH_LINE_SIZE, "%s%s: %d", where, path, status);
    else
        snprintf(line, HEALTH_LINE_SIZE, "%s%s: %s", where, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return OK;
}
