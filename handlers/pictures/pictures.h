/* pictures.h - answers as pictures: charts of who does what when, graphs of workflows.
 *
 * A chart is drawn from the answer's JSON, so that what was stored can be drawn as well
 * as what was just decided. What can be drawn: placements, schedules of workflows,
 * orders of batch queues with what runs there, simulations with their rows of jobs,
 * parallel schedules, plans of applications in phases, co-allocations (their components
 * on sites, from the claim on), what becomes of running jobs and tasks.
 */
#ifndef GRIDPLAN_PICTURES_H
#define GRIDPLAN_PICTURES_H

#include "algorithms/workflow/workflow.h"
#include "service/ask.h"

/* Draws the answer if the client wants a chart; call it last. `out` is what the route's
 * response table describes. Fails with ERR_NOT_ACCEPTABLE if there is nothing in it that
 * could be drawn, and if a graph is wanted that was not drawn before. */
enum error_code picture_answer(struct request *rq, const void *out);

/* The same for an answer that was stored, with its request and the snapshot it named;
 * these NULL: not known. */
enum error_code picture_stored(struct request *rq, const char *request,
                               const char *snapshot, const char *answer);

/* The query of an address that answers with a picture. */
struct chart_query {
    double from_s, to_s; /* NAN: all */
    int rows;            /* resource, site, job */
    uint64_t width;
    int mode, theme; /* enum gantt_mode, gantt_theme */
    bool critical, transfers;
};
extern const struct json_object chart_query_json;

/* Answers with the picture, as the query of the request says. */
enum error_code picture_reply(struct request *rq, const char *request,
                              const char *snapshot, const char *answer);

/* The same as lines of characters (gantt_terminal.h). */
ask_draw_fn picture_terminal;

/* Draws the graph of the workflows, with where and when each task runs, if the client
 * wants that. */
enum error_code picture_graph(struct request *rq, const struct workflow_in *in,
                              const struct workflow_out *plan);

#endif
