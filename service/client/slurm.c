/* slurm.c - gridplan slurm: snapshot, advise, what-if, apply, ingest.
 *
 * What Slurm says is gathered by its own commands, each under a time limit and none by a
 * shell; gridplan converts, decides and writes the changes: a service where there is a
 * URL, else this very program.
 */
#include "service/client/slurm.h"

#include "models/base/plural.h"
#include "models/json_walk.h"
#include "service/client/anonymise.h"
#include "service/client/ask.h"
#include "service/client/child.h"
#include "service/client/target.h"
#include "service/client/what_if.h"
#include "service/clock.h"
#include "service/config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_TIME_LIMIT_S 30.0 /* unless --timeout says otherwise */
#define CHANGE_TIME_LIMIT_S  20.0
#define ASK_TIME_LIMIT_S     120.0
#define BUNDLE_SCHEMA        "gridplan-slurm/1"

enum { WORDS_MAX = 8, FILES_MAX = 3, COMMANDS_MAX = 3 };
static const size_t ARENA_BYTES = (size_t)8 << 30; /* used as needed */

const char slurm_help[] =
    "snapshot [--out FILE] [--anonymise]: what Slurm says of its queue;\n"
    "             advise [--user U] [--job ID] [--policy P] [--json]: why jobs wait, "
    "and\n"
    "             when they would start; what-if [--since 30d] [--policy P]...\n"
    "             [--set bf_window=MINUTES,...]... [--add-nodes like=NODE,count=N]... "
    "[--json]:\n"
    "             how long accounting's jobs would have waited, replayed on the cluster; "
    "apply\n"
    "             [--yes] [--decision FILE] [--mode nice]\n"
    "             [--render slurmrestd|sbatch]: the changes that bring it about, and "
    "with\n"
    "             --yes make them; ingest --url URL [--since 7d]: accounting to "
    "the\n"
    "             history of a service. With --from FILE|FOLDER of a snapshot instead of "
    "this\n"
    "             machine's Slurm, --url URL and --key-file FILE for a service instead "
    "of\n"
    "             this program, --timeout S for each of Slurm's commands (30). Exit 1: "
    "Slurm failed, 3: gridplan refused, 4: nothing to "
    "do";

/* All that a table of squeue and of sinfo can say of what an import reads. Each column
 * has the name that the documents of other commands give it. */
static const char squeue_columns[] =
    "%i|%F|%K|%P|%u|%a|%q|%T|%Q|%y|%D|%C|%c|%m|%l|%M|%V|%S|%e|%f|%E|%b|%h|%v|%W|%n|%x|%N|"
    "%r|%j";
static const char sinfo_columns[] = "%N|%P|%T|%c|%m|%X|%Y|%Z|%w|%f|%G|%C";

/* The documents: member of a request, what prints it, what does if that fails (the second
 * where the first fails too), files of a folder that have it, and whether there is no
 * doing without. What is KEPT stays in the bundle: an import takes it only in the place
 * of another. */
static const struct part {
    const char *name;
    const char *commands[COMMANDS_MAX][WORDS_MAX];
    const char *files[FILES_MAX];
    enum need { NEEDED, WANTED, KEPT } need;
} parts[] = {
    {"squeue",
     {{"squeue", "--json"},
      {"scontrol", "-d", "show", "job"},
      {"squeue", "-a", "-o", squeue_columns}},
     {"squeue.json", "scontrol_show_job.txt", "rest_jobs.json"},
     NEEDED},
    {"sinfo",
     {{"sinfo", "--json"},
      {"scontrol", "show", "node"},
      {"sinfo", "-a", "-N", "-o", sinfo_columns}},
     {"sinfo.json", "scontrol_show_node.txt", "rest_nodes.json"},
     NEEDED},
    {"scontrol_config",
     {{"scontrol", "show", "config"}},
     {"scontrol_show_config.txt"},
     NEEDED},
    {"partitions",
     {{"scontrol", "show", "partition"}},
     {"scontrol_show_partition.txt", "rest_partitions.json"},
     NEEDED},
    {"reservations",
     {{"scontrol", "show", "reservation"}},
     {"scontrol_show_reservation.txt", "rest_reservations.json"},
     NEEDED},
    {"licenses",
     {{"scontrol", "show", "licenses"}},
     {"scontrol_show_licenses.txt", "rest_licenses.json"},
     NEEDED},
    {"shares", {{"sshare", "-P", "-l", "-a"}}, {"sshare.txt"}, WANTED},
    {"qos", {{"sacctmgr", "-P", "show", "qos"}}, {"sacctmgr_qos.txt"}, WANTED},
    {"associations",
     {{"sacctmgr", "-P", "show", "assoc"}},
     {"sacctmgr_assoc.txt"},
     WANTED},
    {"nodes", {{"scontrol", "show", "node"}}, {"scontrol_show_node.txt"}, KEPT},
    {"sprio", {{"sprio", "-l"}}, {"sprio.txt"}, KEPT},
};

enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]) };

static size_t part_named(const char *name)
{
    size_t i = 0;

    while (i < PART_COUNT - 1 && strcmp(parts[i].name, name) != 0)
        i++;
    return i;
}

struct flags {
    const char *from, *out, *user, *job, *policy, *decision, *mode, *render, *url,
        *key_file, *timeout, *since;
    const char *policies[WHAT_IF_LIST_MAX], *settings[WHAT_IF_LIST_MAX],
        *nodes[WHAT_IF_LIST_MAX];
    size_t policy_count, setting_count, node_count;
    bool anonymise, json, yes;
};

struct client {
    struct flags flags;
    struct asked gridplan;
    struct arena *arena;
    struct error *err;
    const char *text[PART_COUNT]; /* NULL: nothing */
    double now_s, tz_offset_s;
    double time_limit_s;  /* of a command that asks */
    const char *imported; /* what POST /v1/imports/slurm answers */
};

static int failed(const struct client *c, int status)
{
    if (!c->err->first)
        fprintf(stderr, "gridplan: %s%s%s\n", c->err->field, *c->err->field ? ": " : "",
                c->err->text);
    for (const struct error_item *item = c->err->first; item; item = item->next)
        fprintf(stderr, "gridplan: %s: %s\n", item->pointer, item->detail);
    return status;
}

/* ---- what Slurm says ---- */

static bool run(struct client *c, const char *const *command, double time_limit_s,
                struct child *out)
{
    *out = (struct child){.arguments = command, .time_limit_s = time_limit_s};
    if (child_run(out, c->arena, c->err) != OK) {
        failed(c, 0);
        return false;
    }
    return out->status == 0 && !out->timed_out;
}

/* Whether one of the commands of a part answered; else what is the matter with the last
 * but a table: that one only lacks what the others have. */
static bool gather_part(struct client *c, const struct part *part, struct child *out,
                        const char **problem)
{
    for (size_t k = 0; k < COMMANDS_MAX && part->commands[k][0]; k++) {
        if (run(c, part->commands[k], c->time_limit_s, out))
            return true;
        if (k < 2)
            *problem = child_problem(out, c->arena);
        if (k > 0 && out->timed_out) /* nobody answers */
            break;
    }
    return false;
}

static int gather(struct client *c)
{
    const char *problem = "";
    struct child out = {.timed_out = false};

    c->now_s = clock_wall_s();
    for (size_t i = 0; i < PART_COUNT; i++) {
        bool good = gather_part(c, &parts[i], &out, &problem);

        if (good && out.output_length > 0)
            c->text[i] = out.output;
        if (good || parts[i].need == KEPT || (parts[i].need == WANTED && !out.timed_out))
            continue;
        fprintf(stderr, "gridplan: %s\n", problem);
        return SLURM_EXIT_SLURM;
    }
    return SLURM_EXIT_DONE;
}

static char *read_file(struct client *c, const char *name)
{
    struct text_buffer b = {.arena = c->arena};
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    char *piece = TRY_NEW(c->arena, char, 65536);
    size_t length;

    if (!file || !piece)
        return NULL;
    while ((length = fread(piece, 1, 65536, file)) > 0)
        text_add(&b, piece, length);
    if (file != stdin)
        fclose(file);
    text_add(&b, "", 1);
    return b.failed ? NULL : b.data;
}

/* A file of the folder, or of the recorded moment t0 in it; NULL: it is in neither. */
static char *read_kept(struct client *c, const char *name)
{
    static const char *const folders[] = {"", "t0/"};
    char *text = NULL;

    for (size_t i = 0; i < 2 && !text; i++) {
        const char *path =
            arena_try_printf(c->arena, "%s/%s%s", c->flags.from, folders[i], name);

        text = path ? read_file(c, path) : NULL;
    }
    return text;
}

static int read_folder(struct client *c)
{
    const char *now = read_kept(c, "now_s");

    c->now_s = now ? strtod(now, NULL) : (double)NAN;
    for (size_t i = 0; i < PART_COUNT; i++)
        for (size_t k = 0; k < FILES_MAX && parts[i].files[k] && !c->text[i]; k++)
            c->text[i] = read_kept(c, parts[i].files[k]);
    if (c->text[0] || c->text[1])
        return SLURM_EXIT_DONE;
    fprintf(stderr, "gridplan: %s: no squeue.json, sinfo.json or their like in it\n",
            c->flags.from);
    return SLURM_EXIT_USAGE;
}

/* What a bundle says of itself. */
struct bundle {
    bool known;     /* its schema is ours */
    bool converted; /* it has what became of its documents already */
};

/* Takes a member of a bundle, whose value comes next. */
static void take_of_bundle(struct client *c, const char *name, struct json_walk *w,
                           struct bundle *b)
{
    char type = json_walk_type(w);
    const char *found;
    size_t i = 0;

    b->converted = b->converted || strcmp(name, "cluster") == 0;
    while (i < PART_COUNT && strcmp(parts[i].name, name) != 0)
        i++;
    if (strcmp(name, "schema") == 0 && type == '"') {
        b->known = strcmp(json_walk_string(w), BUNDLE_SCHEMA) == 0;
    } else if (strcmp(name, "now_s") == 0 && type == '0') {
        c->now_s = json_walk_number(w);
    } else if (strcmp(name, "tz_offset_s") == 0 && type == '0') {
        c->tz_offset_s = json_walk_number(w);
    } else if (i < PART_COUNT && type == '"') {
        found = json_walk_string(w);
        c->text[i] = arena_try_text(c->arena, found, strlen(found));
    } else {
        json_walk_skip(w);
    }
}

/* A bundle: its documents, or what became of them already. */
static int read_bundle(struct client *c)
{
    char *text = read_file(c, c->flags.from);
    struct bundle bundle = {false, false};
    struct json_walk w;
    const char *name;

    if (!text) {
        fprintf(stderr, "gridplan: %s: %s\n", c->flags.from, strerror(errno));
        return SLURM_EXIT_USAGE;
    }
    json_walk_open(&w, text, strlen(text), c->arena);
    json_walk_enter(&w, '{');
    while ((name = json_walk_member(&w)))
        take_of_bundle(c, name, &w, &bundle);
    if (json_walk_end(&w, c->flags.from, c->err) != OK)
        return failed(c, SLURM_EXIT_USAGE);
    if (!bundle.known) {
        fprintf(stderr, "gridplan: %s: its schema is not " BUNDLE_SCHEMA "\n",
                c->flags.from);
        return SLURM_EXIT_USAGE;
    }
    if (bundle.converted)
        c->imported = text;
    return SLURM_EXIT_DONE;
}

static int load(struct client *c)
{
    struct stat s;

    if (!c->flags.from)
        return gather(c);
    if (stat(c->flags.from, &s) == 0 && S_ISDIR(s.st_mode))
        return read_folder(c);
    return read_bundle(c);
}

/* The document of a part that an import is sent. Since v0.0.39 sinfo --json has a row for
 * nodes that are alike, with the least and the most of each amount: scontrol has each. */
static const char *text_sent(const struct client *c, size_t i)
{
    const char *text = c->text[i], *nodes = c->text[part_named("nodes")];
    const char *rows = NULL;
    struct error ignored = {.arena = c->arena};

    if (!text || !nodes || i != part_named("sinfo") || *text != '{')
        return text;
    if (json_member(text, "sinfo", &rows, c->arena, &ignored) == OK && rows)
        return nodes;
    return text;
}

/* {"schema", "now_s", each document as a string}; without `schema` a request. */
static void print_parts(const struct client *c, bool schema, struct text_buffer *b)
{
    text_addf(b, "{%s\"tz_offset_s\": %.15g",
              schema ? "\"schema\": \"" BUNDLE_SCHEMA "\", " : "", c->tz_offset_s);
    if (!isnan(c->now_s))
        text_addf(b, ", \"now_s\": %.6f", c->now_s);
    for (size_t i = 0; i < PART_COUNT; i++) {
        const char *text = schema ? c->text[i] : text_sent(c, i);

        if (!text || (parts[i].need == KEPT && !schema))
            continue;
        text_addf(b, ",\n\"%s\": ", parts[i].name);
        json_print_text(text, b);
    }
    text_addf(b, "}");
}

/* A request that is sent; false: c->err says why not. */
static bool finish(struct client *c, struct text_buffer *b)
{
    return text_finish(b, c->err) == OK;
}

/* A member of an object as JSON; "null" if it is not there. */
static const char *member(struct client *c, const char *object, const char *name)
{
    const char *value = NULL;

    if (json_member(object, name, &value, c->arena, c->err) != OK || !value)
        return "null";
    return value;
}

/* A text of an answer as a line of a terminal, where its control characters are blanks.
 */
static void say(const char *what, const char *text)
{
    fprintf(stderr, "gridplan: %s: ", what);
    for (; *text; text++) {
        bool is_control = (unsigned char)*text < ' ' || *text == 127;

        fputc(is_control ? ' ' : *text, stderr);
    }
    fputc('\n', stderr);
}

/* Goes into the list of that name; false: there is none. */
static bool enter_list(struct client *c, const char *answer, const char *name,
                       struct json_walk *w)
{
    const char *list = member(c, answer, name);

    json_walk_open(w, list, strlen(list), c->arena);
    if (json_walk_type(w) != '[')
        return false;
    json_walk_enter(w, '[');
    return true;
}

/* Settings of Slurm's own, of which nobody asked for an effect here, are none. */
static void say_warnings(struct client *c, const char *answer)
{
    static const char without_effect[] = "without_effect:";
    struct json_walk w;

    if (!enter_list(c, answer, "warnings", &w))
        return;
    while (json_walk_element(&w)) {
        const char *text = json_walk_string(&w);

        if (strncmp(text, without_effect, strlen(without_effect)) != 0)
            say("warning", text);
    }
}

/* What of the documents has no place here. */
static void say_lost(struct client *c, const char *answer)
{
    const char *name;
    struct json_walk w;

    if (!enter_list(c, answer, "lost", &w))
        return;
    while (json_walk_element(&w)) {
        char what[64] = "";
        double count = 0;

        json_walk_enter(&w, '{');
        while ((name = json_walk_member(&w)))
            if (strcmp(name, "what") == 0 && json_walk_type(&w) == '"')
                snprintf(what, sizeof(what), "%s", json_walk_string(&w));
            else if (strcmp(name, "count") == 0 && json_walk_type(&w) == '0')
                count = json_walk_number(&w);
            else
                json_walk_skip(&w);
        fprintf(stderr, "gridplan: lost: %.0f %s\n", count, what);
    }
}

static int import(struct client *c)
{
    struct text_buffer b = {.arena = c->arena};

    if (c->imported)
        return SLURM_EXIT_DONE;
    print_parts(c, false, &b);
    if (!finish(c, &b))
        return failed(c, SLURM_EXIT_SERVICE);
    if (ask_post(&c->gridplan, "/v1/imports/slurm", b.data, b.length, &c->imported,
                 c->arena, c->err) != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    say_warnings(c, c->imported);
    say_lost(c, c->imported);
    return SLURM_EXIT_DONE;
}

/* ---- snapshot ---- */

static int write_out(struct client *c, const char *text, size_t length)
{
    FILE *file = c->flags.out ? fopen(c->flags.out, "w") : stdout;
    bool good;

    if (!file) {
        fprintf(stderr, "gridplan: %s: %s\n", c->flags.out, strerror(errno));
        return SLURM_EXIT_USAGE;
    }
    good = fwrite(text, 1, length, file) == length && fputc('\n', file) == '\n' &&
           fflush(file) == 0;
    if (file != stdout)
        good = fclose(file) == 0 && good;
    if (good)
        return SLURM_EXIT_DONE;
    fprintf(stderr, "gridplan: %s: %s\n", c->flags.out ? c->flags.out : "output",
            strerror(errno));
    return SLURM_EXIT_USAGE;
}

/* Documents have names everywhere: what is made nameless is what became of them. */
static int snapshot(struct client *c)
{
    struct text_buffer b = {.arena = c->arena};
    int status = load(c);

    if (status == SLURM_EXIT_DONE && (c->flags.anonymise || c->imported))
        status = import(c);
    if (status != SLURM_EXIT_DONE)
        return status;
    if (c->flags.anonymise || c->imported) {
        if (anonymise(c->imported, BUNDLE_SCHEMA, c->flags.anonymise, &b, c->arena,
                      c->err) != OK)
            return failed(c, SLURM_EXIT_SERVICE);
    } else
        print_parts(c, true, &b);
    if (!finish(c, &b))
        return failed(c, SLURM_EXIT_SERVICE);
    return write_out(c, b.data, b.length);
}

/* ---- advise ---- */

static int decide(struct client *c, const char **decision)
{
    struct text_buffer b = {.arena = c->arena};

    if (c->flags.decision) {
        *decision = read_file(c, c->flags.decision);
        if (*decision)
            return SLURM_EXIT_DONE;
        fprintf(stderr, "gridplan: %s: %s\n", c->flags.decision, strerror(errno));
        return SLURM_EXIT_USAGE;
    }
    text_addf(&b, "{\"algorithm\": ");
    json_print_text(c->flags.policy ? c->flags.policy : "slurm_backfill", &b);
    text_addf(&b, ", \"now_s\": %s, \"cluster\": ", member(c, c->imported, "now_s"));
    for (int i = 0; i < 2; i++) {
        const char *value = member(c, c->imported, i ? "jobs" : "cluster");

        text_add(&b, value, strlen(value));
        text_addf(&b, i ? "}" : ", \"jobs\": ");
    }
    if (!finish(c, &b))
        return failed(c, SLURM_EXIT_SERVICE);
    if (ask_post(&c->gridplan, "/v1/queue-orders", b.data, b.length, decision, c->arena,
                 c->err) != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    say_warnings(c, *decision);
    return SLURM_EXIT_DONE;
}

/* A job that waits, of both answers. */
struct row {
    const char *id, *user, *slurm_reason, *reason;
    double slurm_start_s, start_s, priority, nice;
    bool held, starts, never, replaced; /* by rows of its tasks */
};

struct rows {
    struct row *list;
    size_t count, size;
    struct name_index index;
    struct arena *arena;
};

static struct row *row_of(struct rows *r, const char *id)
{
    size_t at = name_index_find(&r->index, id);

    return at == NAME_NOT_FOUND ? NULL : &r->list[at];
}

/* The row of a job, or of the task of an array, whose array's row is copied. */
static struct row *row_for(struct rows *r, const char *id)
{
    struct row *found = row_of(r, id), *array;

    if (found)
        return found;
    array = strchr(id, '_') ? row_of(r, arena_try_text(r->arena, id, strcspn(id, "_")))
                            : NULL;
    if (!array || r->count == r->size)
        return NULL;
    array->replaced = true;
    r->list[r->count] = *array;
    r->list[r->count].id = id;
    r->list[r->count].replaced = false;
    name_index_add(&r->index, id, r->count);
    return &r->list[r->count++];
}

/* Calls `take` with each member of each object of a list. */
typedef void take_fn(void *to, const char *name, const char *text, double number);

/* One member to `take`, with its text or number; lists and objects are passed over. */
static void take_member(struct client *c, struct json_walk *w, const char *name,
                        take_fn *take, void *to)
{
    char type = json_walk_type(w), key[64];
    const char *text;

    snprintf(key, sizeof(key), "%s", name);
    if (type == '"') {
        text = json_walk_string(w);
        take(to, key, arena_try_text(c->arena, text, strlen(text)), (double)NAN);
    } else if (type == '0')
        take(to, key, NULL, json_walk_number(w));
    else {
        json_walk_skip(w);
        if (type == 't')
            take(to, key, NULL, 1);
    }
}

static void each(struct client *c, const char *list, take_fn *take, void *to,
                 void (*end)(struct rows *rows, void *to), struct rows *rows)
{
    struct json_walk w;
    const char *name;

    json_walk_open(&w, list, strlen(list), c->arena);
    if (json_walk_type(&w) != '[')
        return;
    json_walk_enter(&w, '[');
    while (json_walk_element(&w)) {
        json_walk_enter(&w, '{');
        while ((name = json_walk_member(&w)))
            take_member(c, &w, name, take, to);
        end(rows, to);
    }
}

static void take_row(void *to, const char *name, const char *text, double number)
{
    struct row *r = to;

    if (strcmp(name, "id") == 0 || strcmp(name, "job_id") == 0)
        r->id = text;
    else if (strcmp(name, "user") == 0)
        r->user = text;
    else if (strcmp(name, "reason") == 0)
        r->reason = text;
    else if (strcmp(name, "start_s") == 0)
        r->slurm_start_s = number;
    else if (strcmp(name, "estimated_start_s") == 0)
        r->start_s = number;
    else if (strcmp(name, "priority") == 0)
        r->priority = number;
    else if (strcmp(name, "nice") == 0)
        r->nice = number;
    else if (strcmp(name, "held") == 0)
        r->held = number == 1;
}

static const struct row no_row = {.slurm_start_s = NAN, .start_s = NAN, .priority = NAN};

static void add_job(struct rows *rows, void *to)
{
    struct row *r = to;

    if (r->id && rows->count < rows->size && !row_of(rows, r->id)) {
        name_index_add(&rows->index, r->id, rows->count);
        rows->list[rows->count++] = *r;
    }
    *r = no_row;
}

static void add_estimate(struct rows *rows, void *to)
{
    struct row *r = to, *found = r->id ? row_of(rows, r->id) : NULL;

    if (found) {
        found->slurm_reason = r->reason;
        found->slurm_start_s = r->slurm_start_s;
    }
    *r = no_row;
}

static void add_start(struct rows *rows, void *to)
{
    struct row *r = to, *found = r->id ? row_for(rows, r->id) : NULL;

    if (found)
        found->starts = true;
    *r = no_row;
}

static void add_waiting(struct rows *rows, void *to)
{
    struct row *r = to, *found = r->id ? row_for(rows, r->id) : NULL;

    if (found) {
        found->start_s = r->start_s;
        found->reason = r->reason;
    }
    *r = no_row;
}

/* The first reason of a list of them. */
static const char *first_reason(struct client *c, struct json_walk *w)
{
    const char *first = NULL, *name;

    json_walk_enter(w, '[');
    while (json_walk_element(w)) {
        struct row r = no_row;

        json_walk_enter(w, '{');
        while ((name = json_walk_member(w)))
            take_member(c, w, name, take_row, &r);
        first = first ? first : r.reason;
    }
    return first;
}

/* Jobs that will never start, and why. */
static void add_unplaced(struct client *c, const char *list, struct rows *rows)
{
    struct json_walk w;
    const char *name;

    json_walk_open(&w, list, strlen(list), c->arena);
    if (json_walk_type(&w) != '[')
        return;
    json_walk_enter(&w, '[');
    while (json_walk_element(&w)) {
        struct row r = no_row, *found;
        const char *why = NULL;

        json_walk_enter(&w, '{');
        while ((name = json_walk_member(&w)))
            if (strcmp(name, "reasons") == 0)
                why = first_reason(c, &w);
            else
                take_member(c, &w, name, take_row, &r);
        found = r.id ? row_for(rows, r.id) : NULL;
        if (!found)
            continue;
        found->reason = why;
        found->never = true;
    }
}

static size_t count_elements(struct client *c, const char *list)
{
    struct json_walk w;
    size_t count = 0;

    json_walk_open(&w, list, strlen(list), c->arena);
    if (json_walk_type(&w) != '[')
        return 0;
    json_walk_enter(&w, '[');
    for (; json_walk_element(&w); count++)
        json_walk_skip(&w);
    return count;
}

/* Rows of jobs, and what a decision (NULL: none) says of them. */
static bool join(struct client *c, const char *decision, struct rows *rows)
{
    const char *jobs = member(c, c->imported, "jobs");
    const char *starts = decision ? member(c, decision, "starts") : "null";
    const char *waiting = decision ? member(c, decision, "waiting") : "null";
    const char *unplaced = decision ? member(c, decision, "unplaced") : "null";
    struct row r = no_row;

    rows->arena = c->arena;
    rows->size = count_elements(c, jobs) + count_elements(c, starts) +
                 count_elements(c, waiting) + count_elements(c, unplaced);
    rows->list = TRY_NEW(c->arena, struct row, rows->size + 1);
    if (!rows->list || !name_index_try(&rows->index, rows->size + 1, c->arena))
        return fail_memory(c->err) == OK;
    each(c, jobs, take_row, &r, add_job, rows);
    each(c, member(c, c->imported, "estimates"), take_row, &r, add_estimate, rows);
    each(c, starts, take_row, &r, add_start, rows);
    each(c, waiting, take_row, &r, add_waiting, rows);
    add_unplaced(c, unplaced, rows);
    return true;
}

static const char *shown_time(double at_s, char *buffer, size_t size)
{
    return isnan(at_s) ? "-" : instant_print(at_s, buffer, size);
}

/* Whether it is of the user and the job that were asked for. */
static bool is_shown(const struct client *c, const struct row *r)
{
    size_t length = c->flags.job ? strlen(c->flags.job) : 0;

    if (r->replaced)
        return false;
    if (c->flags.user && (!r->user || strcmp(r->user, c->flags.user) != 0))
        return false;
    return !c->flags.job || (strncmp(r->id, c->flags.job, length) == 0 &&
                             (!r->id[length] || r->id[length] == '_'));
}

static void print_row(const struct row *r)
{
    const char *waits = r->reason ? r->reason : "-", *begins;
    char slurm[40], ours[40];

    begins = r->starts  ? "now"
             : r->never ? "never"
                        : shown_time(r->start_s, ours, sizeof(ours));

    printf("%-12s %-10s %-22s %-18s %-22s %s\n", r->id, r->user ? r->user : "-",
           r->slurm_reason ? r->slurm_reason : "-", r->starts ? "nothing" : waits,
           shown_time(r->slurm_start_s, slurm, sizeof(slurm)), begins);
}

static int advise(struct client *c)
{
    struct rows rows = {0};
    const char *decision = NULL;
    int status = load(c);
    size_t shown = 0;

    if (status == SLURM_EXIT_DONE)
        status = import(c);
    if (status == SLURM_EXIT_DONE)
        status = decide(c, &decision);
    if (status != SLURM_EXIT_DONE)
        return status;
    if (c->flags.json) {
        puts(decision);
        return SLURM_EXIT_DONE;
    }
    if (!join(c, decision, &rows))
        return failed(c, SLURM_EXIT_SERVICE);
    for (size_t i = 0; i < rows.count; i++) {
        if (!is_shown(c, &rows.list[i]))
            continue;
        if (shown++ == 0)
            printf("%-12s %-10s %-22s %-18s %-22s %s\n", "JOB", "USER", "SLURM SAYS",
                   "WAITS FOR", "START BY SLURM", "START BY GRIDPLAN");
        print_row(&rows.list[i]);
    }
    return shown ? SLURM_EXIT_DONE : SLURM_EXIT_NOTHING;
}

/* ---- apply ---- */

static int export_changes(struct client *c, const char *decision, const char **changes)
{
    struct text_buffer b = {.arena = c->arena};
    struct rows rows = {0};

    if (!join(c, NULL, &rows))
        return failed(c, SLURM_EXIT_SERVICE);
    text_addf(&b, "{\"render\": \"%s\", \"mode\": \"%s\", ",
              c->flags.render ? c->flags.render : "scontrol",
              c->flags.mode ? c->flags.mode : "priority");
    if (strcmp(member(c, c->imported, "version"), "null") != 0)
        text_addf(&b, "\"version\": %s, ", member(c, c->imported, "version"));
    text_addf(&b, "\"jobs\": [");
    for (size_t i = 0; i < rows.count; i++) {
        const struct row *r = &rows.list[i];

        text_addf(&b, "%s{\"id\": ", i ? ", " : "");
        json_print_text(r->id, &b);
        if (!isnan(r->priority))
            text_addf(&b, ", \"priority\": %.0f", r->priority);
        text_addf(&b, ", \"nice\": %.0f, \"held\": %s}", r->nice,
                  r->held ? "true" : "false");
    }
    text_addf(&b, "], \"decision\": ");
    text_add(&b, decision, strlen(decision));
    text_addf(&b, "}");
    if (!finish(c, &b))
        return failed(c, SLURM_EXIT_SERVICE);
    if (ask_post(&c->gridplan, "/v1/exports/slurm", b.data, b.length, changes, c->arena,
                 c->err) != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    return SLURM_EXIT_DONE;
}

enum { ARGUMENTS_MAX = 16 };

struct change {
    const char *arguments[ARGUMENTS_MAX + 1];
    const char *line, *undo;
};

static void read_arguments(struct client *c, struct json_walk *w, struct change *out)
{
    size_t count = 0;

    json_walk_enter(w, '[');
    while (json_walk_element(w)) {
        const char *text = json_walk_string(w);

        if (count < ARGUMENTS_MAX)
            out->arguments[count++] = arena_try_text(c->arena, text, strlen(text));
    }
}

/* A text of the change; what is not known is not shown. */
static void read_change_text(struct client *c, const char *key, const char *text,
                             struct change *out, struct text_buffer *shown)
{
    bool is_shown = strcmp(key, "method") == 0 || strcmp(key, "path") == 0 ||
                    strcmp(key, "option") == 0;

    if (strcmp(key, "line") == 0)
        out->line = text;
    else if (strcmp(key, "undo") == 0)
        out->undo = text;
    else if (is_shown)
        text_addf(shown, "%s%s", shown->length ? " " : "", text);
    else if (strcmp(key, "job_id") == 0 && c->flags.render &&
             strcmp(c->flags.render, "sbatch") == 0)
        text_addf(shown, "%s:", text);
}

/* The arguments and texts of the next change. */
static void read_change(struct client *c, struct json_walk *w, struct change *out)
{
    struct text_buffer shown = {.arena = c->arena};
    const char *name;

    *out = (struct change){.line = NULL};
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        char key[32];

        snprintf(key, sizeof(key), "%s", name);
        if (strcmp(key, "arguments") == 0) {
            read_arguments(c, w, out);
        } else if (json_walk_type(w) == '"') {
            const char *text = json_walk_string(w);

            read_change_text(c, key, arena_try_text(c->arena, text, strlen(text)), out,
                             &shown);
        } else if (strcmp(key, "body") == 0 && json_walk_type(w) == '{') {
            const char *from = w->at;

            json_walk_skip(w);
            text_addf(&shown, " %.*s", (int)(w->at - from), from);
        } else
            json_walk_skip(w);
    }
    if (!out->line && text_finish(&shown, c->err) == OK)
        out->line = shown.data;
}

/* Makes one change; false: it failed, which has been said. */
static bool make(struct client *c, const struct change *change)
{
    struct child out;

    if (run(c, change->arguments, CHANGE_TIME_LIMIT_S, &out))
        return true;
    fprintf(stderr, "gridplan: %s: %s\n", change->line, child_problem(&out, c->arena));
    return false;
}

static void say_undo(const struct change *done, size_t count)
{
    bool any = false;

    for (size_t i = count; i-- > 0;)
        if (done[i].undo) {
            if (!any)
                fprintf(stderr, "gridplan: to undo what was done:\n");
            any = true;
            fprintf(stderr, "  %s\n", done[i].undo);
        }
}

static int make_all(struct client *c, const char *list)
{
    size_t count = count_elements(c, list), done = 0;
    struct change *changes = TRY_NEW(c->arena, struct change, count + 1);
    bool makes = c->flags.yes && !c->flags.render;
    struct json_walk w;

    if (!changes) {
        fail_memory(c->err);
        return failed(c, SLURM_EXIT_SERVICE);
    }
    json_walk_open(&w, list, strlen(list), c->arena);
    json_walk_enter(&w, '[');
    for (size_t i = 0; json_walk_element(&w); i++)
        read_change(c, &w, &changes[i]);
    for (; done < count; done++) {
        puts(changes[done].line ? changes[done].line : "");
        fflush(stdout);
        if (makes && (!changes[done].arguments[0] || !make(c, &changes[done])))
            break;
    }
    if (makes)
        say_undo(changes, done);
    if (done < count)
        return SLURM_EXIT_SLURM;
    if (count == 0)
        return SLURM_EXIT_NOTHING;
    if (!makes)
        fprintf(stderr, "gridplan: nothing was changed%s\n",
                c->flags.render ? "" : "; --yes makes these changes");
    return SLURM_EXIT_DONE;
}

static int apply(struct client *c)
{
    const char *decision = NULL, *changes = NULL;
    int status = load(c);

    if (c->flags.yes && c->flags.render) {
        fprintf(stderr, "gridplan: --yes runs scontrol: not with --render\n");
        return SLURM_EXIT_USAGE;
    }
    if (c->flags.yes && c->flags.from) {
        fprintf(stderr, "gridplan: --yes changes the Slurm that was asked: not with "
                        "--from\n");
        return SLURM_EXIT_USAGE;
    }
    if (status == SLURM_EXIT_DONE)
        status = import(c);
    if (status == SLURM_EXIT_DONE)
        status = decide(c, &decision);
    if (status == SLURM_EXIT_DONE)
        status = export_changes(c, decision, &changes);
    if (status != SLURM_EXIT_DONE)
        return status;
    return make_all(c, member(c, changes, "actions"));
}

/* ---- ingest ---- */

/* What accounting is asked for; all of it is by name. */
static const char sacct_columns[] =
    "Cluster,JobID,JobIDRaw,JobName,User,Account,Partition,QOS,Submit,Eligible,Start,End,"
    "State,ExitCode,AllocTRES,ReqTRES,NCPUS,NodeList,MaxRSS,Comment";

/* What was stored of all parts that were sent. */
struct sent {
    size_t parts, runs, failures;
    double runs_stored, runs_known, failures_stored, failures_known, refused;
};

static double count_of(struct client *c, const char *object, const char *name)
{
    return strtod(member(c, object, name), NULL);
}

/* Sends one document, or a part of one; false: it was refused. */
static bool send_part(struct client *c, const char *name, const char *head,
                      size_t head_length, const char *text, size_t length,
                      struct sent *sent)
{
    struct arena_mark mark = arena_mark(c->arena);
    struct text_buffer b = {.arena = c->arena}, part = {.arena = c->arena};
    const char *answer, *ingested;

    text_add(&part, head, head_length);
    text_add(&part, text, length);
    if (text_finish(&part, c->err) != OK)
        return false;
    text_addf(&b, "{\"tz_offset_s\": 0, \"now_s\": %.0f, \"ingest\": true, \"%s\": ",
              isnan(c->now_s) ? clock_wall_s() : c->now_s, name);
    json_print_text(part.data, &b);
    text_addf(&b, "}");
    if (!finish(c, &b) || ask_post(&c->gridplan, "/v1/imports/slurm", b.data, b.length,
                                   &answer, c->arena, c->err) != OK)
        return false;
    say_warnings(c, answer);
    ingested = member(c, answer, "ingested");
    sent->parts++;
    sent->runs += count_elements(c, member(c, answer, "executions"));
    sent->failures += count_elements(c, member(c, answer, "failures"));
    sent->runs_stored += count_of(c, ingested, "executions_stored");
    sent->runs_known += count_of(c, ingested, "executions_duplicates");
    sent->failures_stored += count_of(c, ingested, "failures_stored");
    sent->failures_known += count_of(c, ingested, "failures_duplicates");
    sent->refused += count_of(c, ingested, "refused");
    arena_rewind(c->arena, mark);
    return true;
}

enum { PART_BYTES = 8 * 1024 * 1024 }; /* of a document in a request, about */

/* Whether a line of sacct is of a step: what is behind the first mark, the job's id, has
 * a point. */
static bool is_step_line(const char *line, size_t length)
{
    const char *id = memchr(line, '|', length), *end;

    if (!id)
        return false;
    end = memchr(id + 1, '|', length - (size_t)(id + 1 - line));
    return end && memchr(id, '.', (size_t)(end - id));
}

/* Bytes of the next part: whole lines, and of sacct no job without its steps. */
static size_t part_length(const char *text, size_t length, bool is_sacct)
{
    size_t at = PART_BYTES;

    while (at < length) {
        const char *stop = memchr(text + at, '\n', length - at);

        if (!stop)
            return length;
        at = (size_t)(stop + 1 - text);
        if (at < length &&
            (!is_sacct || !is_step_line(text + at, strcspn(text + at, "\n"))))
            return at;
    }
    return length;
}

/* A table in parts that each begin with its first line; JSON of a file as a whole. */
static bool send_table(struct client *c, const char *name, const char *head,
                       size_t length, struct sent *sent)
{
    const char *at, *end = head + length;
    size_t head_length = strcspn(head, "\n");

    if (head[strspn(head, " \t\r\n")] == '{')
        return send_part(c, name, head, length, head, 0, sent);
    head_length += head[head_length] == '\n';
    at = head + head_length;
    do {
        size_t part = part_length(at, (size_t)(end - at), strcmp(name, "sacct") == 0);

        if (!send_part(c, name, head, head_length, at, part, sent))
            return false;
        at += part;
    } while (at < end);
    return true;
}

static void print_sent(const char *name, size_t count, double stored, double known)
{
    printf("%s: %zu sent", name, count);
    if (count > 0)
        printf(", %.0f stored, %.0f there before", stored, known);
    putchar('\n');
}

/* "30d" is sacct's now-30days. */
static const char *since_of(struct client *c, const char *otherwise)
{
    const char *since = c->flags.since ? c->flags.since : otherwise;
    size_t digits = strspn(since, "0123456789");

    if (digits == 0 || strcmp(since + digits, "d") != 0)
        return since;
    return arena_try_printf(c->arena, "now-%.*sdays", (int)digits, since);
}

/* Accounting and events, as they are sent. */
struct past {
    const char *text;
    size_t length;
};

/* What sacct and sacctmgr say since then. */
static int ask_past(struct client *c, const char *since, struct past past[2])
{
    const char *const sacct[] = {"sacct", "-P",  "-D", "-a",  "-o", sacct_columns,
                                 "-S",    since, "-E", "now", NULL};
    const char *start = arena_try_printf(c->arena, "Start=%s", since);
    const char *const events[] = {"sacctmgr", "-P", "show", "event", start, NULL};
    struct child out;

    for (int i = 0; i < 2; i++) {
        if (!run(c, i ? sacct : events, 10 * c->time_limit_s, &out)) {
            fprintf(stderr, "gridplan: %s\n", child_problem(&out, c->arena));
            return SLURM_EXIT_SLURM;
        }
        past[i] = (struct past){out.output, out.output_length};
    }
    return SLURM_EXIT_DONE;
}

/* What a folder has of them. */
static int read_past(struct client *c, struct past past[2])
{
    static const char *const files[2][2] = {{"sacctmgr_events.txt"},
                                            {"sacct.txt", "sacct.json"}};
    const char *now = read_kept(c, "now_s");

    c->now_s = now ? strtod(now, NULL) : (double)NAN;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 && files[i][k] && !past[i].text; k++) {
            past[i].text = read_kept(c, files[i][k]);
            past[i].length = past[i].text ? strlen(past[i].text) : 0;
        }
    if (past[0].text || past[1].text)
        return SLURM_EXIT_DONE;
    fprintf(stderr,
            "gridplan: %s: no sacct.txt, sacct.json or sacctmgr_events.txt in it\n",
            c->flags.from);
    return SLURM_EXIT_USAGE;
}

static int print_all_sent(const struct sent *sent)
{
    print_sent("executions", sent->runs, sent->runs_stored, sent->runs_known);
    print_sent("failures", sent->failures, sent->failures_stored, sent->failures_known);
    if (sent->refused > 0)
        printf("refused: %.0f with values that no history takes\n", sent->refused);
    if (sent->runs + sent->failures > 0)
        return SLURM_EXIT_DONE;
    fprintf(stderr, "gridplan: no run and no failure ended since then: nothing to do\n");
    return SLURM_EXIT_NOTHING;
}

/* Runs and failures since then to the history of a service; what is there already stays.
 * Events come first: they say how long nodes were down. */
static int ingest(struct client *c)
{
    const char *since = since_of(c, "1d");
    struct past past[2] = {{0}};
    struct sent sent = {0};
    int status;

    if (!c->gridplan.url) {
        fprintf(stderr, "gridplan: slurm ingest needs --url: this program alone keeps "
                        "nothing\n");
        return SLURM_EXIT_USAGE;
    }
    if (!since || *since == '-' || (c->flags.since && c->flags.from)) {
        fprintf(stderr, "gridplan: --since: days, as 7d, or a time of sacct; not with "
                        "--from\n");
        return SLURM_EXIT_USAGE;
    }
    status = c->flags.from ? read_past(c, past) : ask_past(c, since, past);
    if (status != SLURM_EXIT_DONE)
        return status;
    for (int i = 0; i < 2; i++)
        if (past[i].text &&
            !send_table(c, i ? "sacct" : "events", past[i].text, past[i].length, &sent)) {
            if (sent.parts > 0)
                fprintf(stderr, "gridplan: %s %s sent again\n",
                        counted(sent.parts, "part").text,
                        plural(sent.parts, "was stored before, and stays so when it is",
                               "were stored before, and stay so when they are"));
            return failed(c, SLURM_EXIT_SERVICE);
        }
    return print_all_sent(&sent);
}

/* ---- what-if ---- */

/* Of a folder; NULL: it has been said that there is none. */
static const char *kept_accounting(struct client *c)
{
    static const char *const files[] = {"sacct.txt", "sacct.json"};
    const char *text = NULL;

    for (int i = 0; i < 2 && !text; i++)
        text = read_kept(c, files[i]);
    if (!text)
        fprintf(stderr, "gridplan: %s: no sacct.txt or sacct.json in it\n",
                c->flags.from);
    return text;
}

/* What sacct says; NULL: it has been said what was wrong. Before 21.08 it does not know
 * the command that submitted a job. */
static const char *accounting(struct client *c)
{
    const char *since = since_of(c, "30d"), *columns, *problem = "";
    struct child out;

    for (int i = 0; i < 2; i++) {
        columns = arena_try_printf(c->arena, "%s,TimelimitRaw,NNodes%s", sacct_columns,
                                   i ? "" : ",SubmitLine");
        const char *const sacct[] = {"sacct", "-P",  "-D", "-a",  "-o", columns,
                                     "-S",    since, "-E", "now", NULL};

        if (run(c, sacct, 10 * c->time_limit_s, &out))
            return out.output;
        problem = child_problem(&out, c->arena);
        if (!strstr(problem, "SubmitLine"))
            break;
    }
    fprintf(stderr, "gridplan: %s\n", problem);
    return NULL;
}

struct asking {
    struct client *c;
    struct what_if *w;
    const char *sacct, *answer;
    struct text_buffer body;
    enum error_code code;
};

static void read_accounting(void *context)
{
    struct asking *asking = context;

    asking->code =
        what_if_read(asking->w, asking->sacct, asking->c->arena, asking->c->err);
}

static void print_study(void *context)
{
    struct asking *asking = context;

    asking->code =
        what_if_request(asking->w, &asking->body, asking->c->arena, asking->c->err);
}

static void say_workload(const struct slurm_workload *log)
{
    fprintf(stderr,
            "gridplan: %s of accounting, %zu cancelled before %s ran; left out: %zu not "
            "ended, %zu never ran, %zu unreadable; %s\n",
            counted(log->job_count, "job").text, log->withdrawn_count,
            plural(log->withdrawn_count, "it", "they"), log->not_ended, log->never_ran,
            log->unusable, counted(log->merged, "earlier attempt").text);
    if (log->job_count)
        fprintf(
            stderr,
            "gridplan: in Slurm they waited %.0f s on average; `now` is the replay of "
            "the cluster as it is, without what runs and is reserved now\n",
            log->mean_wait_s);
}

/* The study, and what was answered. */
static int ask_study(struct client *c, struct asking *asking)
{
    if (!arena_run(c->arena, print_study, asking))
        asking->code = fail_memory(c->err);
    if (asking->code != OK)
        return failed(c, SLURM_EXIT_USAGE);
    if (asking->w->unknown)
        fprintf(
            stderr,
            "gridplan: %s %s a partition, account or QOS that the cluster does not have, "
            "and %s without it\n",
            counted(asking->w->unknown, "job").text,
            plural(asking->w->unknown, "names", "name"),
            plural(asking->w->unknown, "goes", "go"));
    if (!finish(c, &asking->body))
        return failed(c, SLURM_EXIT_SERVICE);
    if (ask_post(&c->gridplan, "/v1/simulations", asking->body.data, asking->body.length,
                 &asking->answer, c->arena, c->err) != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    return SLURM_EXIT_DONE;
}

static int what_if(struct client *c)
{
    struct what_if w = {.policy_count = c->flags.policy_count,
                        .setting_count = c->flags.setting_count,
                        .node_count = c->flags.node_count};
    struct asking asking = {.c = c, .w = &w, .body = {.arena = c->arena}};
    int status;

    if (c->flags.since && *c->flags.since == '-') {
        fprintf(stderr, "gridplan: --since: days, as 30d, or a time of sacct\n");
        return SLURM_EXIT_USAGE;
    }
    memcpy(w.policies, c->flags.policies, sizeof(w.policies));
    memcpy(w.settings, c->flags.settings, sizeof(w.settings));
    memcpy(w.nodes, c->flags.nodes, sizeof(w.nodes));
    asking.sacct = c->flags.from ? kept_accounting(c) : accounting(c);
    if (!asking.sacct)
        return c->flags.from ? SLURM_EXIT_USAGE : SLURM_EXIT_SLURM;
    status = load(c);
    if (status == SLURM_EXIT_DONE)
        status = import(c);
    if (status != SLURM_EXIT_DONE)
        return status;
    w.cluster = member(c, c->imported, "cluster");
    if (!arena_run(c->arena, read_accounting, &asking))
        asking.code = fail_memory(c->err);
    if (asking.code != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    if (w.warned)
        say("warning", w.warned);
    say_workload(&w.workload);
    if (w.workload.job_count == 0)
        return SLURM_EXIT_NOTHING;
    status = ask_study(c, &asking);
    if (status != SLURM_EXIT_DONE)
        return status;
    if (c->flags.json)
        return write_out(c, asking.answer, strlen(asking.answer));
    say_warnings(c, asking.answer);
    if (what_if_print(asking.answer, stdout, c->arena, c->err) != OK)
        return failed(c, SLURM_EXIT_SERVICE);
    return SLURM_EXIT_DONE;
}

/* ---- the command line ---- */

static const struct verb {
    const char *name;
    int (*run)(struct client *c);
} verbs[] = {
    {"snapshot", snapshot}, {"advise", advise}, {"what-if", what_if},
    {"apply", apply},       {"ingest", ingest},
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

/* Takes "--name VALUE" or "--name=VALUE"; the arguments used, -1: it has no value. */
static int take_flag(char **at, const char *name, const char **value)
{
    size_t length = strlen(name);

    if (strncmp(*at, name, length) != 0 || ((*at)[length] && (*at)[length] != '='))
        return 0;
    *value = (*at)[length] ? *at + length + 1 : at[1];
    return !*value ? -1 : (*at)[length] ? 1 : 2;
}

static int take_switch(char **at, const char *name, bool *on)
{
    if (strcmp(*at, name) != 0)
        return 0;
    *on = true;
    return 1;
}

/* A flag that may be there several times. */
static int take_more(char **at, const char *name, const char **list, size_t *count)
{
    const char *value;
    int used = take_flag(at, name, &value);

    if (used > 0 && *count == WHAT_IF_LIST_MAX)
        return -1;
    if (used > 0)
        list[(*count)++] = value;
    return used;
}

static bool read_flags(struct flags *f, char **at)
{
    while (*at) {
        int used =
            take_flag(at, "--from", &f->from) + take_flag(at, "--out", &f->out) +
            take_flag(at, "--user", &f->user) + take_flag(at, "--job", &f->job) +
            take_more(at, "--policy", f->policies, &f->policy_count) +
            take_more(at, "--add-nodes", f->nodes, &f->node_count) +
            take_more(at, "--set", f->settings, &f->setting_count) +
            take_flag(at, "--decision", &f->decision) +
            take_flag(at, "--mode", &f->mode) + take_flag(at, "--render", &f->render) +
            take_flag(at, "--url", &f->url) + take_flag(at, "--timeout", &f->timeout) +
            take_flag(at, "--since", &f->since) +
            take_flag(at, "--key-file", &f->key_file) +
            take_switch(at, "--anonymise", &f->anonymise) +
            take_switch(at, "--json", &f->json) + take_switch(at, "--yes", &f->yes);

        if (used <= 0) {
            fprintf(stderr, "gridplan: slurm: '%s' %s\n", *at,
                    used ? "needs a value" : "is not known; gridplan --help");
            return false;
        }
        at += used;
    }
    f->policy = f->policy_count ? f->policies[f->policy_count - 1] : NULL;
    return true;
}

/* One of these words, or not given. */
static bool is_word(const char *flag, const char *value, const char *const *words)
{
    if (!value)
        return true;
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    fprintf(stderr, "gridplan: %s: '%s' is none of its values\n", flag, value);
    return false;
}

static int start(struct client *c, const struct verb *verb, char **arguments)
{
    static const char *const modes[] = {"priority", "nice", NULL};
    static const char *const renders[] = {"slurmrestd", "sbatch", NULL};
    const char *const none[] = {NULL};
    struct target_flags target;
    struct config config;

    if (!read_flags(&c->flags, arguments) || !is_word("--mode", c->flags.mode, modes))
        return SLURM_EXIT_USAGE;
    if (c->flags.render && strcmp(c->flags.render, "scontrol") == 0)
        c->flags.render = NULL;
    if (!is_word("--render", c->flags.render, renders))
        return SLURM_EXIT_USAGE;
    if (config_read(none, none, &config, c->arena, c->err) != OK)
        return failed(c, SLURM_EXIT_USAGE);
    c->time_limit_s =
        c->flags.timeout ? strtod(c->flags.timeout, NULL) : COMMAND_TIME_LIMIT_S;
    if (!(c->time_limit_s > 0) || c->time_limit_s > 3600) {
        fprintf(stderr, "gridplan: --timeout: seconds, above 0, at most 3600\n");
        return SLURM_EXIT_USAGE;
    }
    target = (struct target_flags){c->flags.url, c->flags.key_file, NULL};
    if (target_find(&target, &c->gridplan, c->arena, c->err) != OK)
        return failed(c, SLURM_EXIT_USAGE);
    c->gridplan.config = &config;
    c->gridplan.time_limit_s = ASK_TIME_LIMIT_S;
    return verb->run(c);
}

int slurm_run(char **arguments, const struct route *routes)
{
    struct error err = {0};
    struct client c = {.gridplan = {.routes = routes}, .err = &err, .now_s = NAN};
    size_t i = 0;
    int status;

    while (i < VERB_COUNT && (!*arguments || strcmp(verbs[i].name, *arguments) != 0))
        i++;
    if (i == VERB_COUNT) {
        fprintf(stderr,
                "gridplan: slurm snapshot, slurm advise, slurm what-if, slurm apply or "
                "slurm ingest\n");
        return SLURM_EXIT_USAGE;
    }
    c.arena = err.arena = arena_create(ARENA_BYTES);
    if (!c.arena) {
        fprintf(stderr, "gridplan: out of memory\n");
        return SLURM_EXIT_SERVICE;
    }
    status = start(&c, &verbs[i], arguments + 1);
    arena_close(c.arena);
    return status;
}
