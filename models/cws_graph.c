/* cws_graph.c - the abstract graph of a run of nf-cws. */
#include "models/cws_graph.h"

#include "models/json_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is sent ---- */

static const double UID_MAX = 9007199254740992.0; /* 2^53 */

/* False: the value is no number of a vertex or an edge. */
static bool take_uid(struct json_walk *w, uint64_t *uid)
{
    double number;

    if (json_walk_type(w) != '0') {
        json_walk_skip(w);
        return false;
    }
    number = json_walk_number(w);
    if (!(number >= 0 && number <= UID_MAX && number == floor(number)))
        return false;
    *uid = (uint64_t)number;
    return true;
}

struct element {
    uint64_t uid, from_uid, to_uid;
    bool has_uid, has_from, has_to;
    const char *label, *kind;
};

static struct element read_element(struct json_walk *w, struct arena *a)
{
    struct element e = {.has_uid = false};
    const char *name;

    if (json_walk_type(w) == '0') {
        e.has_uid = take_uid(w, &e.uid);
        return e;
    }
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w)))
        if (strcmp(name, "uid") == 0)
            e.has_uid = take_uid(w, &e.uid);
        else if (strcmp(name, "from") == 0)
            e.has_from = take_uid(w, &e.from_uid);
        else if (strcmp(name, "to") == 0)
            e.has_to = take_uid(w, &e.to_uid);
        else if (strcmp(name, "label") == 0)
            e.label = json_walk_text(w, a);
        else if (strcmp(name, "type") == 0)
            e.kind = json_walk_text(w, a);
        else
            json_walk_skip(w);
    return e;
}

static enum error_code read_list(const char *text, size_t length, struct element **list,
                                 size_t *count, struct arena *a, struct error *err)
{
    struct json_walk w;
    size_t room = 0;

    *list = NULL;
    *count = 0;
    if (length == 0) /* as some clients send DELETE */
        return OK;
    json_walk_open(&w, text, length, a);
    json_walk_enter(&w, '[');
    while (json_walk_element(&w)) {
        if (*count == room) {
            size_t wider = room ? 2 * room : 16;

            *list = arena_extend(a, *list, sizeof(**list), room, wider);
            room = wider;
        }
        (*list)[(*count)++] = read_element(&w, a);
    }
    if (json_walk_end(&w, "", &(struct error){.arena = a}) != OK)
        return fail(err, ERR_MALFORMED, "",
                    "the body is no JSON list of what it is to be of");
    return OK;
}

enum error_code cws_vertices_read(const char *text, size_t length,
                                  struct cws_vertex **list, size_t *count,
                                  size_t *ignored, struct arena *a, struct error *err)
{
    struct element *all;
    size_t total;

    TRY(read_list(text, length, &all, &total, a, err));
    *list = NEW(a, struct cws_vertex, total);
    *count = *ignored = 0;
    for (size_t i = 0; i < total; i++)
        if (all[i].has_uid)
            (*list)[(*count)++] = (struct cws_vertex){all[i].uid, all[i].label,
                                                      all[i].kind ? all[i].kind : "NODE"};
    *ignored = total - *count;
    return OK;
}

enum error_code cws_edges_read(const char *text, size_t length, struct cws_edge **list,
                               size_t *count, size_t *ignored, struct arena *a,
                               struct error *err)
{
    struct element *all;
    size_t total;

    TRY(read_list(text, length, &all, &total, a, err));
    *list = NEW(a, struct cws_edge, total);
    *count = *ignored = 0;
    for (size_t i = 0; i < total; i++)
        if (all[i].has_uid && all[i].has_from && all[i].has_to)
            (*list)[(*count)++] =
                (struct cws_edge){all[i].uid, all[i].from_uid, all[i].to_uid};
    *ignored = total - *count;
    return OK;
}

enum error_code cws_uids_read(const char *text, size_t length, uint64_t **list,
                              size_t *count, size_t *ignored, struct arena *a,
                              struct error *err)
{
    struct element *all;
    size_t total;

    TRY(read_list(text, length, &all, &total, a, err));
    *list = NEW(a, uint64_t, total);
    *count = *ignored = 0;
    for (size_t i = 0; i < total; i++)
        if (all[i].has_uid)
            (*list)[(*count)++] = all[i].uid;
    *ignored = total - *count;
    return OK;
}

bool cws_is_process(const struct cws_vertex *vertex)
{
    return vertex->label && strcmp(vertex->kind, "PROCESS") == 0;
}

/* ---- vertices by their numbers ---- */

struct numbered {
    uint64_t uid;
    size_t at;
};

static int by_uid(const void *left, const void *right)
{
    const struct numbered *l = left, *r = right;

    if (l->uid != r->uid)
        return l->uid < r->uid ? -1 : 1;
    return (l->at > r->at) - (l->at < r->at);
}

static size_t find(const struct numbered *list, size_t count, uint64_t uid)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list[middle].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low].uid == uid ? list[low].at : CWS_NO_VERTEX;
}

/* ---- an order in which every edge looks forward ---- */

struct link {
    size_t vertex, next; /* number of the next link + 1; 0: the end */
};

/* qsort has no context: places go along. */
struct placed {
    size_t place, vertex;
};

struct order {
    size_t vertex_count;
    size_t *place;         /* of each vertex */
    size_t *first[2];      /* its links + 1: 0 to those behind it, 1 to those before */
    struct link *links[2]; /* of each edge that counts */
    size_t link_count;
    size_t *reached[2], reached_count[2];
    bool *seen;
    size_t *stack;
    struct placed *moved, *places;
    struct budget *budget;
};

/* Those that are reached from `start` by such links and stand no further than `limit`. */
static void reach(struct order *o, int way, size_t start, size_t limit)
{
    size_t depth = 0;

    o->reached_count[way] = 0;
    o->stack[depth++] = start;
    o->seen[start] = true;
    while (depth > 0) {
        size_t v = o->stack[--depth];

        o->reached[way][o->reached_count[way]++] = v;
        for (size_t k = o->first[way][v]; k; k = o->links[way][k - 1].next) {
            size_t next = o->links[way][k - 1].vertex;

            budget_step(o->budget, 1);
            if (o->seen[next] ||
                (way == 0 ? o->place[next] > limit : o->place[next] < limit))
                continue;
            o->seen[next] = true;
            o->stack[depth++] = next;
        }
    }
    for (size_t i = 0; i < o->reached_count[way]; i++)
        o->seen[o->reached[way][i]] = false;
}

static bool has_reached(const struct order *o, int way, size_t vertex)
{
    for (size_t i = 0; i < o->reached_count[way]; i++)
        if (o->reached[way][i] == vertex)
            return true;
    return false;
}

static int by_place(const void *left, const void *right)
{
    const struct placed *l = left, *r = right;

    return (l->place > r->place) - (l->place < r->place);
}

/* What leads to `from` goes, in its order, before what `to` leads to, in its order: into
 * the places that they have together. */
static void reorder(struct order *o)
{
    size_t before = o->reached_count[1], count = before + o->reached_count[0];
    struct placed *list = o->moved, *places = o->places;

    for (size_t i = 0; i < count; i++) {
        size_t v = i < before ? o->reached[1][i] : o->reached[0][i - before];

        list[i] = (struct placed){o->place[v], v};
    }
    qsort(list, before, sizeof(*list), by_place);
    qsort(list + before, count - before, sizeof(*list), by_place);
    memcpy(places, list, count * sizeof(*list));
    qsort(places, count, sizeof(*places), by_place);
    for (size_t i = 0; i < count; i++)
        o->place[list[i].vertex] = places[i].place;
    budget_step(o->budget, 8 * count);
}

static void link_up(struct order *o, size_t from, size_t to)
{
    o->links[0][o->link_count] = (struct link){to, o->first[0][from]};
    o->links[1][o->link_count] = (struct link){from, o->first[1][to]};
    o->first[0][from] = o->first[1][to] = ++o->link_count;
}

/* False: it closes a cycle. */
static bool insert(struct order *o, size_t from, size_t to)
{
    if (from == to)
        return false;
    if (o->place[to] < o->place[from]) {
        reach(o, 0, to, o->place[from]);
        if (has_reached(o, 0, from))
            return false;
        reach(o, 1, from, o->place[to]);
        reorder(o);
    }
    link_up(o, from, to);
    return true;
}

static void begin(struct order *o, size_t vertex_count, size_t edge_count,
                  struct arena *a)
{
    o->vertex_count = vertex_count;
    o->place = NEW(a, size_t, vertex_count);
    o->seen = NEW(a, bool, vertex_count);
    o->stack = NEW(a, size_t, vertex_count);
    o->moved = NEW(a, struct placed, vertex_count);
    o->places = NEW(a, struct placed, vertex_count);
    for (int way = 0; way < 2; way++) {
        o->first[way] = NEW(a, size_t, vertex_count);
        o->links[way] = NEW(a, struct link, edge_count);
        o->reached[way] = NEW(a, size_t, vertex_count);
    }
    for (size_t i = 0; i < vertex_count; i++)
        o->place[i] = i;
}

void cws_ranks(const struct cws_vertex *vertices, const double *time_s,
               size_t vertex_count, const struct cws_edge *edges, size_t edge_count,
               double *rank_s, size_t *cut_count, size_t *loose_count,
               struct budget *budget, struct arena *a)
{
    struct numbered *numbers = NEW(a, struct numbered, vertex_count);
    size_t *at = NEW(a, size_t, vertex_count);
    struct order o = {.budget = budget};

    *cut_count = *loose_count = 0;
    begin(&o, vertex_count, edge_count, a);
    for (size_t i = 0; i < vertex_count; i++)
        numbers[i] = (struct numbered){vertices[i].uid, i};
    if (vertex_count > 1)
        qsort(numbers, vertex_count, sizeof(*numbers), by_uid);
    for (size_t i = 0; i < edge_count; i++) {
        size_t from = find(numbers, vertex_count, edges[i].from_uid);
        size_t to = find(numbers, vertex_count, edges[i].to_uid);

        budget_step(budget, 8);
        if (from == CWS_NO_VERTEX || to == CWS_NO_VERTEX)
            ++*loose_count;
        else if (!insert(&o, from, to))
            ++*cut_count;
    }
    for (size_t i = 0; i < vertex_count; i++)
        at[o.place[i]] = i;
    for (size_t i = vertex_count; i-- > 0;) {
        size_t v = at[i];

        rank_s[v] = 0;
        for (size_t k = o.first[0][v]; k; k = o.links[0][k - 1].next)
            rank_s[v] = fmax(rank_s[v], rank_s[o.links[0][k - 1].vertex]);
        rank_s[v] += time_s[v];
    }
}
