/* cluster.c - nodes, partitions, reservations and licences of Slurm's documents. */
#include "models/slurm/cluster.h"

#include "models/base/budget_read.h"
#include "models/slurm/cluster_parts.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    bool is_loss;
    const char *code, *text;
} notes[] = {
#define X(symbol, is_loss, code, text) [SLURM_NOTE_##symbol] = {is_loss, code, text},
    SLURM_NOTES(X)
#undef X
};

const char *const slurm_loss_names[] = {
#define X(symbol, is_loss, code, text) (is_loss) ? (code) : "",
    SLURM_NOTES(X)
#undef X
        NULL};

const char *const slurm_unplaced_names[] = {"unknown_partition", "unknown_reservation",
                                            NULL};

static const char *const list_names[] = {
#define X(symbol, list, key) list,
    SLURM_KINDS(X)
#undef X
};

void slurm_note(struct slurm_reading *c, enum slurm_note note, const char *example,
                enum slurm_kind kind, const struct slurm_record *record)
{
    size_t count = c->noted[note]++;

    if (count < 3 && example)
        c->example[note][count] = example;
    if (count == 0 && record)
        c->pointer[note] = arena_printf(c->arena, "%s/%s/%zu", c->from->of[kind].pointer,
                                        list_names[kind], record->index);
}

const char *slurm_text_of(const struct slurm_record *r, enum slurm_field field)
{
    return slurm_value(r, field);
}

double slurm_number_of(const struct slurm_record *r, enum slurm_field field)
{
    return slurm_number(slurm_value(r, field));
}

double slurm_limit_of(const struct slurm_record *r, enum slurm_field field)
{
    double limit_s = slurm_duration_s(slurm_value(r, field), 60);

    return isfinite(limit_s) ? limit_s : (double)NAN;
}

double slurm_instant_of(struct slurm_reading *c, const struct slurm_record *r,
                        enum slurm_field field)
{
    const char *text = slurm_value(r, field);
    double offset_s = c->options->tz_offset_s;

    if (text && isnan(offset_s)) {
        offset_s = 0;
        if (slurm_is_local(text) && c->noted[SLURM_NOTE_TIME_ZONE] == 0)
            slurm_note(c, SLURM_NOTE_TIME_ZONE, NULL, SLURM_JOB, NULL);
    }
    return slurm_instant_s(text, offset_s);
}

struct slurm_texts slurm_texts_of(struct slurm_reading *c, const struct slurm_record *r,
                                  enum slurm_field field, const char *all)
{
    const char *text = slurm_value(r, field);
    struct slurm_texts found = {0};

    if (text && !(all && strcasecmp(text, all) == 0))
        found.count = slurm_split(text, ',', &found.list, c->arena);
    return found;
}

struct slurm_texts slurm_hosts_of(struct slurm_reading *c, const char *text,
                                  enum slurm_kind kind, const struct slurm_record *record)
{
    struct slurm_texts found = {0};
    const char *const *names;
    const char **kept;
    size_t count;

    if (slurm_says_nothing(text))
        return found;
    if (!slurm_hosts(text, &names, &count, c->arena)) {
        slurm_note(c, SLURM_NOTE_BAD_HOSTS, text, kind, record);
        return found;
    }
    kept = NEW(c->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        if (name_index_find(&c->nodes, names[i]) != NAME_NOT_FOUND)
            kept[found.count++] = names[i];
        else
            slurm_note(c, SLURM_NOTE_UNKNOWN_NODE, names[i], kind, record);
    found.list = kept;
    return found;
}

bool slurm_has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at && *at; at += strcspn(at, ",+")) {
        at += strspn(at, ",+");
        if (strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) &&
            at[length] != '_')
            return true;
    }
    return false;
}

/* The place of the name, made with 0 if it is not there. */
static struct named_value *sum_of(struct slurm_sums *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].name, name) == 0)
            return &s->list[i];
    if (s->count == s->size) {
        size_t size = s->size ? 2 * s->size : 4;

        s->list = GROW(s->arena, s->list, struct named_value, s->size, size);
        s->size = size;
    }
    s->list[s->count] = (struct named_value){.name = name, .type = VALUE_NUMBER};
    return &s->list[s->count++];
}

void slurm_sums_add(struct slurm_sums *s, const char *name, double count)
{
    if (name && count > 0 && isfinite(count))
        sum_of(s, name)->number += count;
}

void slurm_sums_limit(struct slurm_sums *s, const char *name, double count)
{
    if (name && count >= 0 && isfinite(count))
        sum_of(s, name)->number = count;
}

void slurm_sums_add_all(struct slurm_sums *s, struct slurm_amounts amounts)
{
    for (size_t i = 0; i < amounts.count; i++)
        slurm_sums_add(s, amounts.list[i].name, amounts.list[i].number);
}

struct slurm_amounts slurm_amounts_of(struct slurm_reading *c, struct slurm_sums *s,
                                      enum slurm_kind kind,
                                      const struct slurm_record *record)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].number > SLURM_AMOUNT_MAX) {
            slurm_note(c, SLURM_NOTE_LARGE_AMOUNT, s->list[i].name, kind, record);
            s->list[i].number = SLURM_AMOUNT_MAX;
        }
    return (struct slurm_amounts){s->list, s->count};
}

const char *slurm_gres_name(const char *name, const char *type, struct arena *a)
{
    if (strncmp(name, "gres/", 5) == 0)
        name += 5;
    if (type)
        return arena_printf(a, "gres.%s.%s", name, type);
    return strcmp(name, "gpu") == 0 ? "gpus" : arena_printf(a, "gres.%s", name);
}

bool slurm_is_shard(const char *name)
{
    if (strncmp(name, "gres/", 5) == 0)
        name += 5;
    return strcmp(name, "mps") == 0 || strcmp(name, "shard") == 0;
}

const char *slurm_licence_name(const char *name, struct arena *a)
{
    char *found = arena_printf(a, "licence.%s", name), *at = strchr(found, '@');

    if (at)
        *at = '/';
    return found;
}

/* ---- nodes ---- */

/* Of all that is said of it, what matters most. */
static const char *node_state(const struct slurm_record *r)
{
    static const struct {
        const char *word, *state;
    } rows[] = {
        {"FUTURE", "future"},
        {"DOWN", "down"},
        {"FAIL", "down"},
        {"FAILING", "down"},
        {"ERROR", "down"},
        {"INVAL", "down"},
        {"INVALID_REG", "down"},
        {"UNKNOWN", "down"},
        {"NOT_RESPONDING", "down"},
        {"POWERED_DOWN", "down"},
        {"POWERING_DOWN", "down"},
        {"REBOOT_ISSUED", "down"},
        {"DRAIN", "drain"},
        {"DRAINED", "drain"},
        {"DRAINING", "drain"},
        {"MAINT", "maint"},
        {"MAINTENANCE", "maint"},
        /* sinfo -o %t */
        {"DRNG", "drain"},
        {"FAILG", "down"},
        {"FUTR", "future"},
        {"UNK", "down"},
        {"POW_DN", "down"},
        {"NO_RESPOND", "down"},
    };
    const char *state = r->value[SLURM_F_STATE], *flags = r->value[SLURM_F_STATE_FLAGS];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (slurm_has_word(state, rows[i].word) || slurm_has_word(flags, rows[i].word))
            return rows[i].state;
    /* Not responding, powered down, powering down, rebooting. */
    if (state && strpbrk(state, "*~%^"))
        return "down";
    return state && strchr(state, '$') ? "maint" : "up";
}

static struct slurm_amounts node_gres(struct slurm_reading *c, const char *text)
{
    struct slurm_sums sums = {.arena = c->arena};
    const struct slurm_amount *list;
    size_t count = slurm_generic(text, &list, c->arena);

    for (size_t i = 0; i < count; i++) {
        if (slurm_is_shard(list[i].name)) {
            slurm_note(c, SLURM_NOTE_SHARD, list[i].name, SLURM_NODE, NULL);
            continue;
        }
        slurm_sums_add(&sums, slurm_gres_name(list[i].name, NULL, c->arena),
                       list[i].count);
        if (list[i].type)
            slurm_sums_add(&sums, slurm_gres_name(list[i].name, list[i].type, c->arena),
                           list[i].count);
    }
    return slurm_amounts_of(c, &sums, SLURM_NODE, NULL);
}

static double at_least(double number, double least)
{
    return number >= least && isfinite(number) ? number : (double)NAN;
}

/* A number's text, of which "32000+" is the least of some. */
static const char *least_text(struct slurm_reading *c, const struct slurm_record *r,
                              enum slurm_field field)
{
    const char *text = slurm_value(r, field);
    size_t length = text ? strlen(text) : 0;

    if (length == 0 || text[length - 1] != '+')
        return text;
    slurm_note(c, SLURM_NOTE_UNEQUAL, text, SLURM_NODE, r);
    return arena_text(c->arena, text, length - 1);
}

static double least_of(struct slurm_reading *c, const struct slurm_record *r,
                       enum slurm_field field)
{
    return slurm_number(least_text(c, r, field));
}

/* CPUs of each of the nodes of a record: "0/16/0/16" has their sum at the end. */
static double cpus_of(struct slurm_reading *c, const struct slurm_record *r,
                      size_t node_count)
{
    double cpus = slurm_number_of(r, SLURM_F_CPUS_EFFECTIVE);
    const char *states = slurm_value(r, SLURM_F_CPU_STATES);
    const char *total = states ? strrchr(states, '/') : NULL;

    if (!(cpus > 0))
        cpus = least_of(c, r, SLURM_F_CPUS);
    if (isnan(cpus) && total)
        cpus = floor(slurm_number(total + 1) / (double)node_count);
    return at_least(cpus, 0);
}

/* Sockets, cores and threads, of "2:8:1" where they are not said one by one. */
static void read_shape(struct slurm_reading *c, const struct slurm_record *r,
                       struct slurm_node *n)
{
    const char *const *parts;
    size_t count = slurm_split(slurm_value(r, SLURM_F_SHAPE), ':', &parts, c->arena);
    double *to[] = {&n->sockets, &n->cores_per_socket, &n->threads_per_core};
    static const enum slurm_field from[] = {SLURM_F_SOCKETS, SLURM_F_CORES,
                                            SLURM_F_THREADS};

    for (size_t i = 0; i < 3; i++) {
        double number = least_of(c, r, from[i]);

        if (isnan(number) && count == 3)
            number = slurm_number(parts[i]);
        *to[i] = at_least(number, 1);
    }
}

static struct slurm_node node_of(struct slurm_reading *c, const struct slurm_record *r,
                                 size_t node_count)
{
    double weight = least_of(c, r, SLURM_F_WEIGHT);
    struct slurm_node n = {
        .cpus = cpus_of(c, r, node_count),
        .memory_bytes = at_least(slurm_bytes(least_text(c, r, SLURM_F_MEMORY), NULL), 0),
        .capacities = node_gres(c, slurm_value(r, SLURM_F_GRES)),
        .weight = isfinite(weight) ? weight : 1,
        .features = slurm_texts_of(c, r, SLURM_F_FEATURES, NULL),
        .state = node_state(r),
        .partition_ids = slurm_texts_of(c, r, SLURM_F_PARTITIONS, NULL),
    };

    read_shape(c, r, &n);
    return n;
}

/* Names of the nodes that a record is about: one, but of sinfo a list of hosts. */
static struct slurm_texts node_names(struct slurm_reading *c,
                                     const struct slurm_record *r)
{
    const char *name = slurm_value(r, SLURM_F_NAME);
    struct slurm_texts found = {0};
    const char **one;

    if (name) {
        one = NEW(c->arena, const char *, 1);
        *one = name;
        return (struct slurm_texts){one, 1};
    }
    name = slurm_value(r, SLURM_F_NODES);
    name = name ? name : slurm_value(r, SLURM_F_HOST);
    if (!name)
        slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_NODE, r);
    else if (!slurm_hosts(name, &found.list, &found.count, c->arena)) {
        slurm_note(c, SLURM_NOTE_BAD_HOSTS, name, SLURM_NODE, r);
        return (struct slurm_texts){0};
    }
    return found;
}

/* sinfo has a row for each partition of a node: the first one tells of the node. */
static bool is_row_of_sinfo(const struct slurm_record *r)
{
    return !slurm_value(r, SLURM_F_NAME);
}

static void read_nodes(struct slurm_reading *c)
{
    const struct slurm_list *list = &c->from->of[SLURM_NODE];
    struct slurm_texts *names = NEW(c->arena, struct slurm_texts, list->count);
    struct slurm_node *nodes;
    size_t count = 0, total = 0;

    for (size_t i = 0; i < list->count; i++) {
        budget_read_step(64);
        names[i] = node_names(c, &list->records[i]);
        total += names[i].count;
    }
    nodes = NEW(c->arena, struct slurm_node, total);
    name_index_create(&c->nodes, total + 1, c->arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        struct slurm_node node = {0};

        if (names[i].count > 0)
            node = node_of(c, r, names[i].count);
        budget_read_step(16 * names[i].count);
        for (size_t k = 0; k < names[i].count; k++) {
            const char *name = names[i].list[k];

            if (k == 0 && isnan(node.cpus))
                slurm_note(c, SLURM_NOTE_NODE_CPUS, name, SLURM_NODE, r);
            if (name_index_add(&c->nodes, name, count) != NAME_NOT_FOUND) {
                if (!is_row_of_sinfo(r))
                    slurm_note(c, SLURM_NOTE_TWICE, name, SLURM_NODE, r);
                continue;
            }
            node.id = name;
            nodes[count++] = node;
        }
    }
    c->out->nodes = nodes;
    c->out->node_count = count;
}

/* ---- partitions ---- */

static const char *partition_state(const char *text)
{
    if (slurm_has_word(text, "DOWN"))
        return "down";
    if (slurm_has_word(text, "DRAIN"))
        return "drain";
    return slurm_has_word(text, "INACTIVE") ? "inactive" : "up";
}

static bool is_yes(const char *text)
{
    return text && (strcasecmp(text, "yes") == 0 || strcmp(text, "true") == 0);
}

/* NO, YES:4, FORCE:2, EXCLUSIVE */
static void read_sharing(const char *text, struct slurm_partition *p)
{
    const char *colon = text ? strchr(text, ':') : NULL;

    p->shared_jobs_max = colon ? slurm_number(colon + 1) : (double)NAN;
    if (!text || strncasecmp(text, "NO", 2) == 0)
        p->sharing = "no";
    else if (strncasecmp(text, "YES", 3) == 0)
        p->sharing = "yes";
    else if (strncasecmp(text, "FORCE", 5) == 0)
        p->sharing = "force";
    else
        p->sharing = strncasecmp(text, "EXCLUSIVE", 9) == 0 ? "exclusive" : "no";
}

/* Since v0.0.40: for how many jobs, 0 for whole nodes, and whether they are asked. */
static void read_shares_max(const struct slurm_record *r, struct slurm_partition *p)
{
    double jobs = slurm_number_of(r, SLURM_F_SHARES_MAX);
    bool force = slurm_has_word(r->value[SLURM_F_SHARES_FLAGS], "force");

    if (!(jobs >= 0) || !isfinite(jobs))
        return;
    if (jobs >= 32768) { /* in one number */
        force = true;
        jobs -= 32768;
    }
    p->sharing = jobs == 0 ? "exclusive" : force ? "force" : jobs > 1 ? "yes" : "no";
    p->shared_jobs_max = force || jobs > 1 ? jobs : (double)NAN;
}

/* One number for a node or, with its highest bit, for a cpu. Nothing where it was read
 * as a double before (9.22e18): that has lost what it is about. */
static double flagged_bytes(const char *text, bool per_cpu)
{
    const unsigned long long bit = 1ULL << 63, none = 0xfffffffffffffffeULL;
    unsigned long long number;

    if (!text || !*text || text[strspn(text, "0123456789")])
        return NAN;
    number = strtoull(text, NULL, 10);
    if (number == 0 || number >= none || (number >= bit) != per_cpu)
        return NAN;
    return (double)(number & ~bit) * 1048576;
}

/* Memory of a field, else of the older one that is of a node or of a cpu. */
static double partition_bytes(const struct slurm_record *r, enum slurm_field field,
                              enum slurm_field older, bool per_cpu)
{
    double bytes = at_least(slurm_bytes(slurm_value(r, field), NULL), 1);

    return isnan(bytes) ? flagged_bytes(slurm_value(r, older), per_cpu) : bytes;
}

/* The nodes of a record's list; ALL, as slurm.conf may have it, is each of them. */
static struct slurm_texts partition_nodes(struct slurm_reading *c,
                                          const struct slurm_record *r)
{
    const char *text = slurm_value(r, SLURM_F_NODES);
    const char **list;

    if (!text || strcmp(text, "ALL") != 0 ||
        name_index_find(&c->nodes, text) != NAME_NOT_FOUND)
        return slurm_hosts_of(c, text, SLURM_PARTITION, r);
    list = NEW(c->arena, const char *, c->out->node_count);
    budget_read_step(c->out->node_count);
    for (size_t i = 0; i < c->out->node_count; i++)
        list[i] = c->out->nodes[i].id;
    return (struct slurm_texts){list, c->out->node_count};
}

static void read_partition(struct slurm_reading *c, const struct slurm_record *r,
                           const char *name, struct slurm_partition *p)
{
    double tier = slurm_number_of(r, SLURM_F_TIER);
    double factor = slurm_number_of(r, SLURM_F_FACTOR);

    *p = (struct slurm_partition){
        .id = name,
        .resource_ids = partition_nodes(c, r),
        .is_default = is_yes(r->value[SLURM_F_IS_DEFAULT]) ||
                      slurm_has_word(r->value[SLURM_F_FLAGS], "default"),
        .state = partition_state(r->value[SLURM_F_STATE]),
        .time_limit_max_s = slurm_limit_of(r, SLURM_F_TIME_MAX),
        .time_limit_default_s = slurm_limit_of(r, SLURM_F_TIME_DEFAULT),
        .over_time_limit_s = slurm_limit_of(r, SLURM_F_OVER_TIME),
        .priority_tier = isfinite(tier) ? tier : 1,
        .priority_factor = isfinite(factor) ? factor : 0,
        .nodes_per_job_min = at_least(slurm_number_of(r, SLURM_F_NODES_MIN), 1),
        .nodes_per_job_max = at_least(slurm_number_of(r, SLURM_F_NODES_MAX), 1),
        .cpus_per_node_max = at_least(slurm_number_of(r, SLURM_F_CPUS_PER_NODE_MAX), 1),
        .memory_per_node_default_bytes =
            partition_bytes(r, SLURM_F_DEFAULT_PER_NODE, SLURM_F_DEFAULT_MEMORY, false),
        .memory_per_cpu_default_bytes =
            partition_bytes(r, SLURM_F_DEFAULT_PER_CPU, SLURM_F_DEFAULT_MEMORY, true),
        .memory_per_cpu_max_bytes =
            partition_bytes(r, SLURM_F_MAX_PER_CPU, SLURM_F_MAX_MEMORY, true),
        .memory_per_node_max_bytes =
            partition_bytes(r, SLURM_F_MAX_PER_NODE, SLURM_F_MAX_MEMORY, false),
        .accounts_allowed = slurm_texts_of(c, r, SLURM_F_ACCOUNTS_ALLOWED, "ALL"),
        .accounts_denied = slurm_texts_of(c, r, SLURM_F_ACCOUNTS_DENIED, NULL),
        .qos_allowed = slurm_texts_of(c, r, SLURM_F_QOS_ALLOWED, "ALL"),
        .qos_id = slurm_text_of(r, SLURM_F_QOS),
    };
    if (p->nodes_per_job_min <= 1)
        p->nodes_per_job_min = NAN;
    read_sharing(slurm_value(r, SLURM_F_SHARED), p);
    read_shares_max(r, p);
}

/* Nodes of another row of sinfo for the same partition. */
static void add_partition_nodes(struct slurm_reading *c, const struct slurm_record *r,
                                struct slurm_partition *p)
{
    struct slurm_texts more =
        slurm_hosts_of(c, slurm_value(r, SLURM_F_NODES), SLURM_NODE, r);
    size_t count = p->resource_ids.count;
    const char **list = NEW(c->arena, const char *, count + more.count);
    struct name_index seen;

    name_index_create(&seen, count + more.count + 1, c->arena);
    for (size_t i = 0; i < count; i++) {
        list[i] = p->resource_ids.list[i];
        name_index_add(&seen, list[i], i);
    }
    for (size_t i = 0; i < more.count; i++)
        if (name_index_add(&seen, more.list[i], count) == NAME_NOT_FOUND)
            list[count++] = more.list[i];
    budget_read_step(8 * (count + more.count));
    p->resource_ids = (struct slurm_texts){list, count};
}

/* Partitions that nodes name, with the number of their nodes. */
struct named_partitions {
    struct slurm_partition *list;
    size_t count, room;
};

static void count_node(struct slurm_reading *c, struct named_partitions *found,
                       const char *id)
{
    size_t at = name_index_find(&c->partitions, id);

    if (at == NAME_NOT_FOUND) {
        if (found->count == found->room) {
            found->list = GROW(c->arena, found->list, struct slurm_partition, found->room,
                               2 * found->room);
            found->room *= 2;
        }
        at = found->count++;
        name_index_add(&c->partitions, id, at);
        read_partition(c, &(struct slurm_record){0}, id, &found->list[at]);
    }
    found->list[at].resource_ids.count++;
}

/* Partitions that only nodes tell of. */
static size_t name_partitions(struct slurm_reading *c, struct slurm_partition **list)
{
    struct named_partitions found = {NEW(c->arena, struct slurm_partition, 8), 0, 8};
    size_t total = 0;
    const char ***ids;

    for (size_t i = 0; i < c->out->node_count; i++)
        total += c->out->nodes[i].partition_ids.count;
    name_index_create(&c->partitions, total + 1, c->arena);
    for (size_t i = 0; i < c->out->node_count; i++) {
        const struct slurm_texts *of = &c->out->nodes[i].partition_ids;

        for (size_t k = 0; k < of->count; k++)
            count_node(c, &found, of->list[k]);
        budget_read_step(1 + 8 * of->count);
    }
    ids = NEW(c->arena, const char **, found.count);
    for (size_t i = 0; i < found.count; i++) {
        ids[i] = NEW(c->arena, const char *, found.list[i].resource_ids.count);
        found.list[i].resource_ids.list = ids[i];
        found.list[i].resource_ids.count = 0;
    }
    for (size_t i = 0; i < c->out->node_count; i++) {
        const struct slurm_texts *of = &c->out->nodes[i].partition_ids;

        for (size_t k = 0; k < of->count; k++) {
            size_t at = name_index_find(&c->partitions, of->list[k]);

            ids[at][found.list[at].resource_ids.count++] = c->out->nodes[i].id;
        }
        budget_read_step(1 + 8 * of->count);
    }
    *list = found.list;
    return found.count;
}

static void read_partitions(struct slurm_reading *c)
{
    bool is_short = c->from->of[SLURM_PARTITION].count == 0;
    const struct slurm_list *list =
        &c->from->of[is_short ? SLURM_SINFO_PARTITION : SLURM_PARTITION];
    struct slurm_partition *found = NEW(c->arena, struct slurm_partition, list->count);
    size_t count = 0;

    if (list->count == 0) {
        count = name_partitions(c, &found);
        if (count > 0)
            slurm_note(c, SLURM_NOTE_PARTITIONS, NULL, SLURM_PARTITION, NULL);
    } else
        name_index_create(&c->partitions, list->count, c->arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *name = slurm_text_of(r, SLURM_F_NAME);
        size_t at;

        budget_read_step(64);
        if (!name) {
            slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_PARTITION, r);
            continue;
        }
        at = name_index_add(&c->partitions, name, count);
        if (at == NAME_NOT_FOUND)
            read_partition(c, r, name, &found[count++]);
        else if (is_short)
            add_partition_nodes(c, r, &found[at]);
        else
            slurm_note(c, SLURM_NOTE_TWICE, name, SLURM_PARTITION, r);
    }
    c->out->partitions = found;
    c->out->partition_count = count;
}

/* ---- reservations, licences ---- */

/* Hours and days of the week at which a reservation comes again have no place here. */
static void note_repeats(struct slurm_reading *c, const char *name, const char *flags,
                         const struct slurm_record *r)
{
    static const char *const words[] = {"HOURLY", "WEEKDAY", "WEEKEND", NULL};

    for (size_t i = 0; words[i]; i++)
        if (slurm_has_word(flags, words[i]))
            slurm_note(c, SLURM_NOTE_RESERVATION_REPEATS, name, SLURM_RESERVATION, r);
}

const char *const slurm_reservation_flag_names[] = {
#define X(name, slurm) #name,
    SLURM_RESERVATION_FLAGS(X)
#undef X
        NULL};

static struct slurm_texts reservation_flags(struct slurm_reading *c, const char *text)
{
    static const char *const known[] = {
#define X(name, slurm) slurm,
        SLURM_RESERVATION_FLAGS(X)
#undef X
    };
    enum { COUNT = sizeof(known) / sizeof(known[0]) };
    struct slurm_texts found = {0};
    const char **list = NEW(c->arena, const char *, COUNT);

    for (size_t i = 0; i < COUNT; i++)
        if (slurm_has_word(text, known[i]))
            list[found.count++] = slurm_reservation_flag_names[i];
    found.list = list;
    return found;
}

/* Names without those that are shut out, which have a - before them. */
static struct slurm_texts allowed(struct slurm_reading *c, const struct slurm_record *r,
                                  enum slurm_field field)
{
    struct slurm_texts found = slurm_texts_of(c, r, field, NULL);

    for (size_t i = 0; i < found.count; i++)
        if (*found.list[i] == '-') {
            slurm_note(c, SLURM_NOTE_RESERVATION_USERS, found.list[i], SLURM_RESERVATION,
                       r);
            return (struct slurm_texts){0};
        }
    return found;
}

struct slurm_amounts slurm_licences(const char *text, struct arena *a)
{
    struct slurm_sums sums = {.arena = a};
    const struct slurm_amount *list;
    size_t count = slurm_generic(text, &list, a);

    for (size_t i = 0; i < count; i++)
        slurm_sums_add(&sums, slurm_licence_name(list[i].name, a), list[i].count);
    return (struct slurm_amounts){sums.list, sums.count};
}

static double cores_of(const struct slurm_cluster *cluster,
                       const struct name_index *nodes, const struct slurm_texts *ids)
{
    double sum = 0;

    for (size_t i = 0; i < ids->count; i++) {
        const struct slurm_node *n =
            &cluster->nodes[name_index_find(nodes, ids->list[i])];
        double threads = n->threads_per_core > 1 ? n->threads_per_core : 1;

        sum += isnan(n->cpus) ? 0 : n->cpus / threads;
    }
    return sum;
}

static void read_reservations(struct slurm_reading *c)
{
    const struct slurm_list *list = &c->from->of[SLURM_RESERVATION];
    struct slurm_reservation *found =
        NEW(c->arena, struct slurm_reservation, list->count);
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        struct slurm_reservation *v = &found[count];
        const char *name = slurm_text_of(r, SLURM_F_NAME);
        double cores = slurm_number_of(r, SLURM_F_CORE_COUNT);

        budget_read_step(64);
        if (!name) {
            slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_RESERVATION, r);
            continue;
        }
        *v = (struct slurm_reservation){
            .id = name,
            .resource_ids =
                slurm_hosts_of(c, slurm_value(r, SLURM_F_NODES), SLURM_RESERVATION, r),
            .users_allowed = allowed(c, r, SLURM_F_USERS),
            .accounts_allowed = allowed(c, r, SLURM_F_ACCOUNTS),
            .flags = reservation_flags(c, r->value[SLURM_F_FLAGS]),
            .start_s = slurm_instant_of(c, r, SLURM_F_START),
            .end_s = slurm_instant_of(c, r, SLURM_F_END),
            .needs = slurm_licences(slurm_value(r, SLURM_F_LICENSES), c->arena),
        };
        if (cores > 0 && cores < cores_of(c->out, &c->nodes, &v->resource_ids))
            slurm_note(c, SLURM_NOTE_RESERVED_CORES, name, SLURM_RESERVATION, r);
        note_repeats(c, name, r->value[SLURM_F_FLAGS], r);
        count++;
    }
    c->out->reservations = found;
    c->out->reservation_count = count;
}

const char *slurm_config(const struct slurm_records *from, const char *key)
{
    const struct slurm_list *list = &from->of[SLURM_CONFIG];

    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->records[i].pair_count; k++)
            if (strcmp(list->records[i].pairs[k].key, key) == 0)
                return list->records[i].pairs[k].value;
    return NULL;
}

static void read_licences(struct slurm_reading *c)
{
    const struct slurm_list *list = &c->from->of[SLURM_LICENSE];
    struct slurm_sums sums = {.arena = c->arena};

    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *name = slurm_text_of(r, SLURM_F_NAME);

        if (!name)
            slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_LICENSE, r);
        else
            slurm_sums_add(&sums, slurm_licence_name(name, c->arena),
                           slurm_number_of(r, SLURM_F_TOTAL));
    }
    if (list->count == 0)
        slurm_sums_add_all(&sums,
                           slurm_licences(slurm_config(c->from, "Licenses"), c->arena));
    c->out->shared_capacities = slurm_amounts_of(c, &sums, SLURM_LICENSE, NULL);
}

/* ---- all of it ---- */

static const char *warning_of(const struct slurm_reading *c, int note)
{
    const char *example = c->example[note][0], *pointer = c->pointer[note];

    return arena_printf(c->arena, "%s: %zu: %s%s%.200s%s%s", notes[note].code,
                        c->noted[note], notes[note].text, example ? ", the first: " : "",
                        example ? example : "", pointer ? ", at " : "",
                        pointer ? pointer : "");
}

static struct slurm_loss loss_of(const struct slurm_reading *c, int note)
{
    struct slurm_loss loss = {.what = notes[note].code, .count = c->noted[note]};

    for (size_t k = 0; k < 3; k++)
        if (c->example[note][k])
            loss.examples[loss.example_count++] = c->example[note][k];
    return loss;
}

static void say_notes(struct slurm_reading *c)
{
    const char **warnings = NEW(c->arena, const char *, SLURM_NOTE_COUNT + 1);
    struct slurm_loss *losses = NEW(c->arena, struct slurm_loss, SLURM_NOTE_COUNT);
    const char *warned = slurm_warned_text(&c->from->warned, c->arena);

    c->out->warnings = warnings;
    c->out->lost = losses;
    if (warned)
        warnings[c->out->warning_count++] = warned;
    for (int i = 0; i < SLURM_NOTE_COUNT; i++)
        if (c->noted[i] > 0 && notes[i].is_loss)
            losses[c->out->lost_count++] = loss_of(c, i);
        else if (c->noted[i] > 0)
            warnings[c->out->warning_count++] = warning_of(c, i);
}

void slurm_cluster_read(const struct slurm_records *from,
                        const struct slurm_options *options, struct slurm_cluster *out,
                        struct arena *a)
{
    struct slurm_reading *c = NEW(a, struct slurm_reading, 1);

    *out = (struct slurm_cluster){.now_s = options->now_s, .version = from->version};
    c->from = from;
    c->options = options;
    c->out = out;
    c->arena = a;
    out->name = slurm_config(from, "ClusterName");
    if (isnan(out->now_s))
        out->now_s = from->updated_s;
    if (isnan(out->now_s)) {
        out->now_s = options->received_s;
        slurm_note(c, SLURM_NOTE_NOW, NULL, SLURM_JOB, NULL);
    }
    c->noted[SLURM_NOTE_ODD_ROWS] = from->odd_rows;
    c->noted[SLURM_NOTE_CUT_ROWS] = from->cut_rows;
    c->noted[SLURM_NOTE_EMPTY] = from->empty_count;
    c->pointer[SLURM_NOTE_EMPTY] = from->empty;
    read_nodes(c);
    read_partitions(c);
    read_reservations(c);
    read_licences(c);
    slurm_read_jobs(c);
    slurm_read_policy(c);
    slurm_read_qos(c);
    slurm_read_accounts(c);
    slurm_complete(c);
    say_notes(c);
}
