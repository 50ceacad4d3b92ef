/* ask.h - a decision without a service: a document from a file, answered in the process.
 */
#ifndef GRIDPLAN_ASK_H
#define GRIDPLAN_ASK_H

#include "service/client/ask.h"

/* What a terminal shows. */
struct ask_look {
    size_t width; /* characters of a line */
    bool utf8, colour;
};

/* Draws the answer to `request` as lines of characters; *text NULL: nothing in it can be
 * drawn. */
typedef enum error_code ask_draw_fn(struct request *rq, const char *request,
                                    const char *answer, const struct ask_look *look,
                                    const char **text);

/* The path of an endpoint that has an algorithm of this name; NULL: none. */
typedef const char *ask_algorithm_fn(const char *name);

/* ASK_TEXT: figures, chart, rows and what has no place. */
enum ask_form { ASK_TEXT, ASK_JSON, ASK_SVG, ASK_TABLE, ASK_GANTT };

struct ask {
    const char
        *endpoint; /* "placements" or "/v1/placements"; NULL: as the document says */
    enum ask_form form;
    struct ask_look look; /* of what is no JSON and no SVG */
    ask_draw_fn *draw;
    ask_algorithm_fn *endpoint_of; /* NULL: unknown */
    const struct asked *who;       /* with a url: the service there; NULL: the process */
    const char *const *sets;       /* "/path=value": changes of the document */
    size_t set_count;
    const char *save;     /* a file for the answer; NULL: none */
    const char *svg_file; /* for the chart of ASK_SVG, instead of *text; NULL: none */
    bool json_problems;   /* what is refused is told as JSON, whatever the form */
};

enum ask_outcome {
    ASK_DONE,
    ASK_REFUSED, /* 4xx: text says why */
    ASK_FAILED,  /* 5xx */
    ASK_SHORT    /* answered, but infeasible or with jobs that have no place */
};

/* The endpoints whose requests the document is one of, as far as their tables can tell;
 * their number. `list` has room for 64. */
size_t ask_endpoints(const struct route *routes, const char *document, size_t length,
                     const struct route **list, struct arena *a);

/* A file of another tool becomes the member of a request: by the end of its name, .dax,
 * .xml, .stg, .dot or .wfformat.json of workflow-schedules, .swf of a simulation of a
 * queue; other files stay as they are. */
enum error_code ask_wrap(const char *name, const char **document, size_t *length,
                         struct arena *a, struct error *err);

/* The one that is meant: whose table alone fits, or of several the one that has its
 * algorithm, else what it looks like (ask_meant.h); that, too, when it fits none, for an
 * answer that says why. ERR_INVALID: it is no JSON, looks like none, or it is not clear
 * like which; the text names them. */
enum error_code ask_route(const struct route *routes, const struct ask *how,
                          const char *document, size_t length, const struct route **found,
                          struct arena *a, struct error *err);

/* Answers it, in the process without a database. *text: the answer in the form that is
 * wanted; of one that is refused or has failed the problem, as lines or JSON. */
enum error_code ask(struct service *service, const struct ask *how, const char *document,
                    size_t length, enum ask_outcome *outcome, const char **text,
                    struct arena *a, struct error *err);

#endif
