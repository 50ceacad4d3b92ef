/* kinds.c - requests of several kinds, each with tables and a handler of its own. */
#include "handlers/common/kinds.h"

enum error_code answer_by_kind(struct request *rq, const struct json_of_kind *body,
                               const struct json_kind *answers, handler_fn *const *runs,
                               struct json_of_kind *answer)
{
    answer->kind = body->kind;
    answer->value = arena_alloc(rq->arena, answers[body->kind].of->size, 1);
    return runs[body->kind](rq, body->value, answer->value);
}
