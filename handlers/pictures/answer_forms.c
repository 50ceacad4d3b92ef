/* answer_forms.c - answers that were kept as JSON, in the other forms of ANSWER_FORMS. */
#include "handlers/pictures/answer_forms.h"

#include "handlers/pictures/pictures.h"
#include "handlers/queue/simulation_queue.h"

#include <string.h>

static enum error_code text_of(struct request *rq, const char *answer)
{
    const char *swf;

    TRY(queue_schedule_find(rq, answer, NULL, &swf));
    if (!swf)
        return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                    "the answer was kept without its text; ask with a new "
                    "Idempotency-Key, or accept application/json");
    request_answer_as(rq, ANSWER_TEXT, swf, strlen(swf));
    return OK;
}

enum error_code answer_form_draw(struct request *rq, enum answer_form form,
                                 const char *answer)
{
    if (form == ANSWER_CHART)
        return picture_stored(rq, rq->body, rq->snapshot_document, answer);
    if (form == ANSWER_TEXT)
        return text_of(rq, answer);
    return fail(rq->err, ERR_NOT_ACCEPTABLE, "",
                "the answer was kept as JSON, of which no graph can be made; ask with a "
                "new Idempotency-Key, or accept application/json");
}
