/* service_fuzz.h - a service without database and sockets, for fuzzing. */
#ifndef GRIDPLAN_SERVICE_FUZZ_H
#define GRIDPLAN_SERVICE_FUZZ_H

#include "handlers/routes.h"
#include "service/config.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/openapi.h"
#include "service/service.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_REQUEST_BYTES = 256 * 1024 * 1024 };

/* The one service of the process: only log errors, at most a second a search. */
static inline struct service *fuzz_service(void)
{
    static struct service service;
    static struct config config;
    static struct openapi_document description;
    static struct arena *settings __attribute__((used)); /* config points into it */
    static const char *const flags[] = {"--time-limit-max-s=0.05", "--log-level=error",
                                        NULL};
    static const char *const environment[] = {NULL};
    struct error err = {0};

    if (service.config)
        return &service;
    settings = arena_create(1 << 20);
    if (!settings || config_read(environment, flags, &config, settings, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    if (openapi_document_create(routes(), NULL, &description, &err) != OK)
        abort();
    log_open(LOG_ERROR, 2);
    service.config = &config;
    service.routes = routes();
    service.description = &description;
    service.metrics = metrics_create(true);
    return &service;
}

/* Answers and checks what holds for every answer. */
static inline void fuzz_answer(const struct message *m)
{
    struct arena *a = arena_create(FUZZ_REQUEST_BYTES);
    struct reply reply;

    if (!a)
        abort();
    if (!route_answer(fuzz_service(), m, NULL, true, &reply, a))
        abort();
    if (reply.status < 200 || reply.status > 599 || reply.status == 500 ||
        (reply.body_length && !reply.body))
        abort();
    arena_close(a);
}

#endif
