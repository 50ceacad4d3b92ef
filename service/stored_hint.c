/* stored_hint.c - the stored thing that a wrong name may have meant. */
#include "service/stored_hint.h"

#include "models/base/names.h"
#include "service/store.h"
#include "service/store_model.h"
#include "service/store_simulation.h"

#include <string.h>

enum { LOOKED_AT = 1000 };

/* What a list is read with, and what comes of it. */
struct names {
    struct request *rq;
    struct error *err;
    struct store_page page;
    const char *next;
    const char **names;
    size_t count;
};

/* The names of `list`, of which `member` is one, are n->names. */
#define TAKE_NAMES(n, list, member)                                     \
    do {                                                                \
        (n)->names = TRY_NEW((n)->rq->arena, const char *, (n)->count); \
        for (size_t i = 0; (n)->names && i < (n)->count; i++)           \
            (n)->names[i] = (list)[i].member;                           \
    } while (0)

static enum error_code list_snapshots(struct names *n)
{
    const struct store_snapshot *list;

    TRY(store_snapshots_list(n->rq->db, n->rq->principal.tenant, &n->page, &list,
                             &n->count, &n->next, n->rq->arena, n->err));
    TAKE_NAMES(n, list, snapshot_id);
    return OK;
}

static enum error_code list_traces(struct names *n, enum store_trace_kind kind)
{
    const struct store_trace *list;

    TRY(store_traces_list(n->rq->db, n->rq->principal.tenant, kind, &n->page, &list,
                          &n->count, &n->next, n->rq->arena, n->err));
    TAKE_NAMES(n, list, trace_id);
    return OK;
}

static enum error_code list_workloads(struct names *n)
{
    return list_traces(n, STORE_WORKLOAD);
}

static enum error_code list_failure_traces(struct names *n)
{
    return list_traces(n, STORE_FAILURE_TRACE);
}

static enum error_code list_models(struct names *n)
{
    const struct store_model_filter any = {0};
    const struct store_model *list;

    TRY(store_models_list(n->rq->db, n->rq->principal.tenant, &any, &n->page, &list,
                          &n->count, &n->next, n->rq->arena, n->err));
    TAKE_NAMES(n, list, model_id);
    return OK;
}

static const struct {
    const char *parameter;
    enum error_code (*list)(struct names *n);
} kinds[] = {
    {"snapshot_id", list_snapshots},
    {"workload_id", list_workloads},
    {"failure_trace_id", list_failure_traces},
    {"model_id", list_models},
};

void stored_hint(struct request *rq, const char *parameter, const char *id)
{
    struct error ignored = {.arena = rq->arena};
    struct names n = {.rq = rq, .err = &ignored, .page = {.limit = LOOKED_AT}};
    const char *nearest;

    for (size_t i = 0; rq->db && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].parameter, parameter) == 0 && kinds[i].list(&n) != OK)
            return;
    nearest = n.names ? names_nearest(id, n.names, n.count) : NULL;
    if (!nearest)
        return;
    if (rq->err->noted) {
        error_hint(rq->err, "did you mean '%s'?", nearest);
        error_allow(rq->err, NULL, &nearest, 1);
    } else {
        rq->err->hint = arena_try_printf(rq->arena, "did you mean '%s'?", nearest);
    }
}
