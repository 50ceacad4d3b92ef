/* http.h - bytes in, bytes out: the only user of libmicrohttpd.
 *
 * A few threads do I/O with epoll and answer what takes microseconds. Other
 * requests are suspended and answered on the worker pools. A watcher thread
 * closes connections that are too slow or idle for too long, and tells
 * computations when their client has gone.
 */
#ifndef GRIDPLAN_HTTP_H
#define GRIDPLAN_HTTP_H

#include "service/service.h"

struct http;

/* Listens as service->config says. Uses config, metrics, auth, routes, governor,
 * query and draining of *service, which must stay. ERR_CONFLICT: the port is
 * taken. */
enum error_code http_start(struct service *service, struct http **http,
                           struct error *err);

/* The port it listens on; the port of the listener for probes and metrics, 0: none. */
int http_port(const struct http *http);
int http_admin_port(const struct http *http);

struct http_stats {
    size_t connection_count; /* open now */
    size_t request_count;    /* being read, answered or written now */
    size_t body_bytes;       /* memory in use for bodies now */
    size_t slow_count;       /* connections closed since the start: too slow */
    size_t idle_count;       /* ... to make room */
    size_t gone_count;       /* requests whose client went away */
    size_t refused_count;    /* requests refused because a queue was full */
};
void http_stats(struct http *http, struct http_stats *stats);

/* Sets service->draining and takes no more connections; replies from now on
 * close theirs. Returns at once. */
void http_drain(struct http *http);

/* Waits until no request is left, at most grace_s; then tells computations to
 * stop, and waits a little longer. False: some requests would not end; then
 * http_close() must not be called. */
bool http_wait(struct http *http, double grace_s);

/* Ends the threads and closes all connections. The worker pools must still
 * run. Accepts NULL. */
void http_close(struct http *http);

#endif
