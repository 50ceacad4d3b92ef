/* store.c - a cluster of Slurm's documents as a stored snapshot.
 *
 * A snapshot has what all decisions look at; `cluster` in it has the rest, and is what
 * queues decide on. Nodes on which nothing may start are reserved as a whole (drain), or
 * have failed (down, maint, future). A suspended job has memory and no cpus: as a row
 * that runs has some, it has a millionth.
 */
#include "handlers/slurm/store.h"

#include "handlers/slurm/cluster_json.h"
#include "handlers/snapshots/stored_snapshot.h"
#include "handlers/stored/stored_name.h"
#include "service/json.h"
#include "service/store.h"

#include <math.h>
#include <string.h>

#define T struct slurm_stored
static const struct json_field stored_rows[] = {
    JSON_TEXT(T, snapshot_id, 0, "The snapshot; decisions take it by this name"),
    JSON_INTEGER(T, generation, 0, JSON_EXACT, 0, 0, "Grows with each change"),
    {0},
};
#undef T
const struct json_object slurm_stored_json = {"SlurmStored", "The snapshot that was made",
                                              sizeof(struct slurm_stored), stored_rows};

struct writing {
    struct text_buffer text;
    const struct slurm_cluster *cluster;
    const char *separator; /* before the next member or element */
    struct budget *budget;
};

static void begin(struct writing *w, const char *bracket)
{
    text_addf(&w->text, "%s", bracket);
    w->separator = "";
}

static void end(struct writing *w, const char *bracket)
{
    text_addf(&w->text, "%s", bracket);
    w->separator = ",";
}

static void element(struct writing *w)
{
    text_addf(&w->text, "%s", w->separator);
    budget_step(w->budget, 8);
}

static void name(struct writing *w, const char *member)
{
    element(w);
    text_addf(&w->text, "\"%s\":", member);
    w->separator = ",";
}

static void text_member(struct writing *w, const char *member, const char *value)
{
    if (!value)
        return;
    name(w, member);
    json_print_text(value, &w->text);
}

static void number_member(struct writing *w, const char *member, double number)
{
    if (!isfinite(number))
        return;
    name(w, member);
    json_print_number(number, &w->text);
}

static void texts_member(struct writing *w, const char *member,
                         const struct slurm_texts *list)
{
    name(w, member);
    begin(w, "[");
    for (size_t i = 0; i < list->count; i++) {
        element(w);
        json_print_text(list->list[i], &w->text);
        w->separator = ",";
    }
    end(w, "]");
}

static void amounts_member(struct writing *w, const char *member,
                           const struct slurm_amounts *amounts)
{
    if (amounts->count == 0)
        return;
    name(w, member);
    begin(w, "{");
    for (size_t i = 0; i < amounts->count; i++) {
        element(w);
        json_print_text(amounts->list[i].name, &w->text);
        text_addf(&w->text, ":");
        json_print_number(amounts->list[i].number, &w->text);
        w->separator = ",";
    }
    end(w, "}");
}

static void write_nodes(struct writing *w)
{
    name(w, "resources");
    begin(w, "[");
    for (size_t i = 0; i < w->cluster->node_count; i++) {
        const struct slurm_node *n = &w->cluster->nodes[i];

        element(w);
        begin(w, "{");
        text_member(w, "id", n->id);
        number_member(w, "cpus", n->cpus);
        number_member(w, "memory_bytes", n->memory_bytes);
        amounts_member(w, "capacities", &n->capacities);
        if (strcmp(n->state, "drain") == 0)
            text_addf(&w->text, ",\"reservations\":[{\"id\":\"drain\",\"all\":true}]");
        else if (strcmp(n->state, "up") != 0)
            text_addf(&w->text, ",\"failed\":true");
        end(w, "}");
    }
    end(w, "]");
}

static void write_running(struct writing *w, double now_s)
{
    name(w, "running");
    begin(w, "[");
    for (size_t i = 0; i < w->cluster->running_count; i++) {
        const struct slurm_running *r = &w->cluster->running[i];

        element(w);
        begin(w, "{");
        text_member(w, "id", r->id);
        texts_member(w, "resource_ids", &r->resource_ids);
        number_member(w, "cpus", fmax(r->cpus, 1e-6));
        number_member(w, "memory_bytes", r->memory_bytes);
        amounts_member(w, "needs", &r->needs);
        number_member(w, "expected_end_s", r->expected_end_s - now_s);
        number_member(w, "time_limit_s", r->time_limit_s);
        text_member(w, "user", r->user);
        if (r->exclusive)
            text_addf(&w->text, ",\"exclusive\":true");
        end(w, "}");
    }
    end(w, "]");
}

static void write_reservations(struct writing *w, double now_s)
{
    name(w, "reservations");
    begin(w, "[");
    for (size_t i = 0; i < w->cluster->reservation_count; i++) {
        const struct slurm_reservation *v = &w->cluster->reservations[i];

        if (v->resource_ids.count == 0 && v->needs.count == 0)
            continue;
        element(w);
        begin(w, "{");
        text_member(w, "id", v->id);
        number_member(w, "start_s", v->start_s - now_s);
        number_member(w, "end_s", v->end_s - now_s);
        if (v->resource_ids.count > 0) {
            texts_member(w, "resource_ids", &v->resource_ids);
            text_addf(&w->text, ",\"all\":true");
        } else
            amounts_member(w, "needs", &v->needs);
        end(w, "}");
    }
    end(w, "]");
}

static void write_partitions(struct writing *w)
{
    name(w, "partitions");
    begin(w, "[");
    for (size_t i = 0; i < w->cluster->partition_count; i++) {
        const struct slurm_partition *p = &w->cluster->partitions[i];

        element(w);
        begin(w, "{");
        text_member(w, "id", p->id);
        texts_member(w, "resource_ids", &p->resource_ids);
        if (p->is_default)
            text_addf(&w->text, ",\"default\":true");
        number_member(w, "time_limit_max_s", p->time_limit_max_s);
        number_member(w, "nodes_per_job_max", p->nodes_per_job_max);
        number_member(w, "priority_tier", p->priority_tier);
        end(w, "}");
    }
    end(w, "]");
}

/* The whole cluster, its times in seconds from the documents' now. */
static void write_cluster(struct writing *w, double now_s, struct arena *a)
{
    struct slurm_cluster copy = *w->cluster;
    struct slurm_running *running = NEW(a, struct slurm_running, copy.running_count);
    struct slurm_reservation *reservations =
        NEW(a, struct slurm_reservation, copy.reservation_count);

    for (size_t i = 0; i < copy.running_count; i++) {
        running[i] = copy.running[i];
        running[i].expected_end_s -= now_s;
        budget_step(w->budget, 4);
    }
    for (size_t i = 0; i < copy.reservation_count; i++) {
        reservations[i] = copy.reservations[i];
        reservations[i].start_s -= now_s;
        reservations[i].end_s -= now_s;
        budget_step(w->budget, 4);
    }
    copy.running = running;
    copy.reservations = reservations;
    name(w, "cluster");
    json_print(&slurm_cluster_json, &copy, &w->text);
}

static const char *document_of(struct request *rq, const struct slurm_cluster *cluster)
{
    struct writing w = {
        .text = {.arena = rq->arena}, .cluster = cluster, .budget = &rq->budget};
    double now_s = cluster->now_s;

    begin(&w, "{");
    number_member(&w, "taken_at", now_s);
    amounts_member(&w, "shared_capacities", &cluster->shared_capacities);
    write_nodes(&w);
    write_running(&w, now_s);
    write_reservations(&w, now_s);
    if (cluster->partition_count > 0)
        write_partitions(&w);
    write_cluster(&w, now_s, rq->arena);
    end(&w, "}");
    text_add(&w.text, "", 1);
    if (w.text.failed)
        arena_leave(rq->arena);
    return w.text.data;
}

enum error_code slurm_store(struct request *rq, const struct slurm_cluster *cluster,
                            const char *name, struct slurm_stored *out)
{
    struct error first = {.arena = rq->arena};
    const char *document = document_of(rq, cluster);
    struct store_snapshot stored = {0};
    struct db_session *db;
    enum error_code code;

    TRY(stored_name_choose(rq, name, "/store_snapshot", &name));
    TRY(snapshot_check_document(rq, document, strlen(document)));
    TRY(request_db(rq, &db));
    code = store_snapshot_update(db, rq->principal.tenant, name, 0, document, &stored,
                                 rq->arena, &first);
    if (code == ERR_NOT_FOUND)
        code = store_snapshot_create(db, rq->principal.tenant, name, document, &stored,
                                     rq->arena, rq->err);
    else if (code != OK)
        *rq->err = first;
    TRY(code);
    *out = (struct slurm_stored){name, stored.generation};
    return OK;
}
