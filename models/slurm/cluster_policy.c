/* cluster_policy.c - settings, shares and limits of Slurm's documents. */
#include "models/slurm/cluster.h"

#include "models/base/budget_read.h"
#include "models/slurm/cluster_parts.h"
#include "models/slurm/values.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- settings ---- */

static double number_setting(const char *text, double unit)
{
    /* Elsewhere -1 is no limit; of bf_interval it is a value. */
    double number = text && strcmp(text, "-1") == 0 ? -1 : slurm_number(text);

    return isfinite(number) ? number * unit : (double)NAN;
}

static double duration_setting(const struct slurm_reading *c, const char *key,
                               double unit_s)
{
    double found_s = slurm_duration_s(slurm_config(c->from, key), unit_s);

    return isfinite(found_s) ? found_s : (double)NAN;
}

/* Parameters of which a pass takes no notice, as it takes no time here. */
static bool is_without_effect(const char *name)
{
    static const char *const names[] = {"bf_continue",
                                        "bf_max_time",
                                        "bf_yield_interval",
                                        "bf_yield_sleep",
                                        "bf_yield_rpc_cnt",
                                        "batch_sched_delay",
                                        NULL};

    for (size_t i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A value within its bounds; NAN: Slurm takes its default instead. */
static double bounded(double value, double least, double most)
{
    return value >= least && value <= most ? value : (double)NAN;
}

/* NAME or NAME=VALUE. */
static bool set_parameter(struct slurm_settings *s, const char *name, const char *value)
{
    if (value && strcmp(name, "bf_interval") == 0 && number_setting(value, 1) == -1) {
        s->bf_interval_s = -1; /* no backfill */
        return true;
    }
#define X(member, parameter, unit, least, most)                        \
    if (value && strcmp(name, #parameter) == 0) {                      \
        s->member = bounded(number_setting(value, unit), least, most); \
        return !isnan(s->member);                                      \
    }
    SLURM_SCHEDULER_NUMBERS(X)
#undef X
#define X(member)                     \
    if (strcmp(name, #member) == 0) { \
        s->member = true;             \
        return true;                  \
    }
    SLURM_SCHEDULER_FLAGS(X)
#undef X
    return is_without_effect(name);
}

static void read_parameters(struct slurm_reading *c, struct slurm_settings *s)
{
    const char *const *list;
    size_t count =
        slurm_split(slurm_config(c->from, "SchedulerParameters"), ',', &list, c->arena);

    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(list[i], '=');
        const char *name =
            equals ? arena_text(c->arena, list[i], (size_t)(equals - list[i])) : list[i];

        budget_read_step(64);
        if (!set_parameter(s, name, equals ? equals + 1 : NULL))
            slurm_note(c, SLURM_NOTE_PARAMETERS, list[i], SLURM_CONFIG, NULL);
    }
}

static const char *select_of(struct slurm_reading *c)
{
    const char *type = slurm_config(c->from, "SelectType");
    const char *how = slurm_config(c->from, "SelectTypeParameters");
    bool memory = how && strcasestr(how, "memory");

    if (!type)
        return NULL;
    if (strstr(type, "linear"))
        return "whole_nodes";
    if (!strstr(type, "cons_")) {
        slurm_note(c, SLURM_NOTE_SELECT, type, SLURM_CONFIG, NULL);
        return NULL;
    }
    if (how && strncasecmp(how, "CR_CPU", 6) == 0)
        return memory ? "cpus_memory" : "cpus";
    return memory ? "cores_memory" : "cores";
}

static bool says_yes(const char *text)
{
    return text && (strcasecmp(text, "yes") == 0 || strcmp(text, "1") == 0);
}

/* CPU=100,Mem=200,GRES/gpu=400 */
static struct slurm_amounts amount_weights(struct slurm_reading *c)
{
    const char *const *list;
    size_t count =
        slurm_split(slurm_config(c->from, "PriorityWeightTRES"), ',', &list, c->arena);
    struct slurm_sums sums = {.arena = c->arena};

    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(list[i], '=');
        char *name;
        double weight;

        if (!equals)
            continue;
        weight = slurm_number(equals + 1);
        name = arena_text(c->arena, list[i], (size_t)(equals - list[i]));
        if (strcasecmp(name, "cpu") == 0)
            slurm_sums_add(&sums, "cpus", weight);
        else if (strcasecmp(name, "mem") == 0)
            slurm_sums_add(&sums, "memory_bytes", weight);
        else if (strcasecmp(name, "node") == 0)
            slurm_sums_add(&sums, "nodes", weight);
        else if (strncasecmp(name, "gres/", 5) == 0)
            slurm_sums_add(&sums, slurm_gres_name(name + 5, NULL, c->arena), weight);
        else if (strncasecmp(name, "license/", 8) == 0)
            slurm_sums_add(&sums, slurm_licence_name(name + 8, c->arena), weight);
        else if (weight > 0)
            slurm_note(c, SLURM_NOTE_PARAMETERS, list[i], SLURM_CONFIG, NULL);
    }
    return (struct slurm_amounts){sums.list, sums.count};
}

static const struct slurm_priority *priority_of(struct slurm_reading *c)
{
    const char *type = slurm_config(c->from, "PriorityType");
    const char *flags = slurm_config(c->from, "PriorityFlags");
    struct slurm_priority *p = NEW(c->arena, struct slurm_priority, 1);
    double damping = slurm_number(slurm_config(c->from, "FairShareDampeningFactor"));

    if (!type)
        return NULL;
    *p = (struct slurm_priority){
        .type = strstr(type, "multifactor") ? "multifactor" : "basic",
        .weight_tres = amount_weights(c),
        .max_age_s = duration_setting(c, "PriorityMaxAge", 60),
        .decay_half_life_s = duration_setting(c, "PriorityDecayHalfLife", 60),
        .calc_period_s = duration_setting(c, "PriorityCalcPeriod", 60),
        .damping = damping >= 1 && isfinite(damping) ? damping : (double)NAN,
        .favor_small = says_yes(slurm_config(c->from, "PriorityFavorSmall")),
        .small_relative_to_time = slurm_has_word(flags, "SMALL_RELATIVE_TO_TIME"),
        .accrue_always = slurm_has_word(flags, "ACCRUE_ALWAYS"),
        .fair_share = slurm_has_word(flags, "NO_FAIR_TREE") ? "classic" : "fair_tree",
    };
#define X(member, key)                                     \
    p->member = slurm_number(slurm_config(c->from, #key)); \
    if (!isfinite(p->member))                              \
        p->member = 0;
    SLURM_PRIORITY_WEIGHTS(X)
#undef X
    return p;
}

/* Durations of slurm.conf: object, member, key, what a plain number counts. */
#define DURATIONS(X)                                            \
    X("priority", max_age_s, PriorityMaxAge, 60)                \
    X("priority", decay_half_life_s, PriorityDecayHalfLife, 60) \
    X("priority", calc_period_s, PriorityCalcPeriod, 60)        \
    X(NULL, preempt_exempt_s, PreemptExemptTime, 60)            \
    X(NULL, over_time_limit_s, OverTimeLimit, 60)               \
    X(NULL, kill_wait_s, KillWait, 1)

static bool is_number_setting(const char *name, const char *value,
                              struct slurm_setting *out)
{
    *out = (struct slurm_setting){.number = NAN};
#define X(of, parameter, unit, ...)                \
    if (strcmp(name, #parameter) == 0) {           \
        out->member = #of;                         \
        out->number = number_setting(value, unit); \
    }
    SLURM_SCHEDULER_NUMBERS(X)
#undef X
#define X(of, key)                              \
    if (strcasecmp(name, #key) == 0) {          \
        out->object = "priority";               \
        out->member = #of;                      \
        out->number = number_setting(value, 1); \
    }
    SLURM_PRIORITY_WEIGHTS(X)
#undef X
#define X(within, of, key, unit_s)                     \
    if (strcasecmp(name, #key) == 0) {                 \
        out->object = within;                          \
        out->member = #of;                             \
        out->number = slurm_duration_s(value, unit_s); \
    }
    DURATIONS(X)
#undef X
    return out->member && isfinite(out->number);
}

static bool says_no(const char *text)
{
    return strcasecmp(text, "no") == 0 || strcmp(text, "0") == 0 ||
           strcasecmp(text, "false") == 0;
}

bool slurm_setting_read(const char *name, const char *value, struct slurm_setting *out)
{
    if (value && is_number_setting(name, value, out))
        return true;
    *out = (struct slurm_setting){.number = NAN, .is_on = true};
#define X(of)                   \
    if (strcmp(name, #of) == 0) \
        out->member = #of;
    SLURM_SCHEDULER_FLAGS(X)
#undef X
    if (strcasecmp(name, "PriorityFavorSmall") == 0) {
        out->object = "priority";
        out->member = "favor_small";
    }
    if (value && says_no(value))
        out->is_on = false;
    else if (value && !says_yes(value) && strcasecmp(value, "true") != 0)
        return false;
    return out->member;
}

void slurm_read_policy(struct slurm_reading *c)
{
    struct slurm_settings *s;
    const char *preempt, *mode;

    if (c->from->of[SLURM_CONFIG].count == 0)
        return;
    s = NEW(c->arena, struct slurm_settings, 1);
#define X(member, ...) s->member = NAN;
    SLURM_SCHEDULER_NUMBERS(X)
#undef X
    read_parameters(c, s);
    preempt = slurm_config(c->from, "PreemptType");
    mode = slurm_config(c->from, "PreemptMode");
    if (preempt)
        s->preempt_type = strstr(preempt, "qos")         ? "qos"
                          : strstr(preempt, "partition") ? "partition_prio"
                                                         : "none";
    if (mode)
        s->preempt_mode = slurm_has_word(mode, "REQUEUE")  ? "requeue"
                          : slurm_has_word(mode, "CANCEL") ? "cancel"
                                                           : "off";
    s->select = select_of(c);
    s->preempt_exempt_s = duration_setting(c, "PreemptExemptTime", 60);
    s->over_time_limit_s = duration_setting(c, "OverTimeLimit", 60);
    s->kill_wait_s = duration_setting(c, "KillWait", 1);
    s->priority = priority_of(c);
    c->out->settings = s;
}

/* ---- limits ---- */

static double limit_number(const struct slurm_record *r, enum slurm_field field)
{
    double number = slurm_number_of(r, field);

    return isfinite(number) && number >= 0 ? number : (double)NAN;
}

/* "cpu=4,mem=8G,gres/gpu=2"; NULL: nothing is said. */
static struct slurm_limit_amounts *limit_amounts(struct slurm_reading *c,
                                                 const struct slurm_record *r,
                                                 enum slurm_field field)
{
    const struct slurm_amount *list;
    size_t count = slurm_tracked(slurm_value(r, field), &list, c->arena);
    struct slurm_sums sums = {.arena = c->arena};
    struct slurm_limit_amounts *to;

    if (count == 0)
        return NULL;
    to = NEW(c->arena, struct slurm_limit_amounts, 1);
    *to = (struct slurm_limit_amounts){NAN, NAN, NAN, NAN, NAN, NAN, {0}};
    for (size_t i = 0; i < count; i++) {
        const char *name = list[i].name;

        if (strcmp(name, "cpu") == 0)
            to->cpus = list[i].count;
        else if (strcmp(name, "mem") == 0)
            to->memory_bytes = list[i].count;
        else if (strcmp(name, "node") == 0)
            to->nodes = list[i].count;
        else if (strncmp(name, "gres/", 5) == 0)
            slurm_sums_limit(&sums, slurm_gres_name(name, list[i].type, c->arena),
                             list[i].count);
        else if (strncmp(name, "license/", 8) == 0)
            slurm_sums_limit(&sums, slurm_licence_name(name + 8, c->arena),
                             list[i].count);
        else
            slurm_note(c, SLURM_NOTE_LIMITS, name, SLURM_ASSOCIATION, NULL);
    }
    to->needs = slurm_amounts_of(c, &sums, SLURM_ASSOCIATION, r);
    return to;
}

/* Seconds of cpus, which the documents have in minutes; NAN: no limit. */
static double cpu_seconds(struct slurm_reading *c, const struct slurm_record *r,
                          enum slurm_field field)
{
    const struct slurm_amount *list;
    size_t count = slurm_tracked(slurm_value(r, field), &list, c->arena);

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, "cpu") == 0)
            return list[i].count * 60;
    return NAN;
}

static const struct slurm_limits *limits_of(struct slurm_reading *c,
                                            const struct slurm_record *r)
{
    struct slurm_limits *found = NEW(c->arena, struct slurm_limits, 1);
    struct slurm_limit_amounts *group = limit_amounts(c, r, SLURM_F_GRP_TRES);
    double cpu_s = cpu_seconds(c, r, SLURM_F_GRP_TRES_MINS);
    double running_s = cpu_seconds(c, r, SLURM_F_GRP_RUN_MINS);
    double running = limit_number(r, SLURM_F_GRP_JOBS);

    *found = (struct slurm_limits){
        .jobs_running_max = limit_number(r, SLURM_F_MAX_JOBS),
        .jobs_submitted_max = limit_number(r, SLURM_F_MAX_SUBMIT),
        .jobs_running_per_user_max = limit_number(r, SLURM_F_MAX_JOBS_USER),
        .jobs_running_per_account_max = limit_number(r, SLURM_F_MAX_JOBS_ACCOUNT),
        .wall_s_max = slurm_limit_of(r, SLURM_F_MAX_WALL),
        .per_job = limit_amounts(c, r, SLURM_F_MAX_TRES),
        .per_user = limit_amounts(c, r, SLURM_F_MAX_TRES_USER),
        .per_node = limit_amounts(c, r, SLURM_F_MAX_TRES_NODE),
    };
    if (isnan(found->jobs_submitted_max))
        found->jobs_submitted_max = limit_number(r, SLURM_F_GRP_SUBMIT);
    if (!group && (!isnan(cpu_s) || !isnan(running_s) || !isnan(running))) {
        group = NEW(c->arena, struct slurm_limit_amounts, 1);
        *group = (struct slurm_limit_amounts){NAN, NAN, NAN, NAN, NAN, NAN, {0}};
    }
    if (group) {
        group->jobs_running = running;
        group->cpu_s = cpu_s;
        group->cpu_s_running = running_s;
    }
    found->group = group;
    if (slurm_value(r, SLURM_F_MAX_SUBMIT_USER))
        slurm_note(c, SLURM_NOTE_LIMITS, "MaxSubmitPU", SLURM_QOS, NULL);
    if (group || found->per_job || found->per_user || found->per_node ||
        !isnan(found->jobs_running_max) || !isnan(found->jobs_submitted_max) ||
        !isnan(found->jobs_running_per_user_max) ||
        !isnan(found->jobs_running_per_account_max) || !isnan(found->wall_s_max))
        return found;
    return NULL;
}

/* ---- quality of service ---- */

const char *const slurm_qos_flag_names[] = {
#define X(name, in_text, in_json) #name,
    SLURM_QOS_FLAGS(X)
#undef X
        NULL};

/* Flags that mean something here. */
static struct slurm_texts qos_flags(struct slurm_reading *c, const char *text)
{
    static const char *const known[] = {
#define X(name, in_text, in_json) in_text,
        SLURM_QOS_FLAGS(X)
#undef X
#define X(name, in_text, in_json) in_json,
            SLURM_QOS_FLAGS(X)
#undef X
    };
    enum { COUNT = sizeof(known) / sizeof(known[0]) };
    struct slurm_texts found = {0};
    const char **list = NEW(c->arena, const char *, COUNT);

    for (size_t i = 0; i < COUNT; i++)
        if (slurm_has_word(text, known[i]))
            list[found.count++] = slurm_qos_flag_names[i % (COUNT / 2)];
    found.list = list;
    return found;
}

/* How its jobs are preempted, where it is not as the cluster has it. */
static const char *preempt_mode(const struct slurm_reading *c, const char *text)
{
    const char *of_cluster = c->out->settings ? c->out->settings->preempt_mode : NULL;
    const char *mode = slurm_has_word(text, "requeue")  ? "requeue"
                       : slurm_has_word(text, "cancel") ? "cancel"
                                                        : NULL;

    return mode && of_cluster && strcmp(mode, of_cluster) == 0 ? NULL : mode;
}

void slurm_read_qos(struct slurm_reading *c)
{
    const struct slurm_list *list = &c->from->of[SLURM_QOS];
    struct slurm_qos *found = NEW(c->arena, struct slurm_qos, list->count);
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *name = slurm_text_of(r, SLURM_F_NAME);
        const char *mode = slurm_value(r, SLURM_F_PREEMPT_MODE);
        double priority = slurm_number_of(r, SLURM_F_PRIORITY);
        double factor = slurm_number_of(r, SLURM_F_USAGE_FACTOR);
        double grace_s = slurm_duration_s(slurm_value(r, SLURM_F_GRACE), 1);

        budget_read_step(64);
        if (!name) {
            slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_QOS, r);
            continue;
        }
        found[count++] = (struct slurm_qos){
            .id = name,
            .priority = isfinite(priority) ? priority : 0,
            .grace_s = isfinite(grace_s) ? grace_s : 0,
            .usage_factor = isfinite(factor) ? factor : 1,
            .flags = qos_flags(c, r->value[SLURM_F_FLAGS]),
            .preempts = slurm_texts_of(c, r, SLURM_F_PREEMPTS, NULL),
            .preempt_mode = preempt_mode(c, mode),
            .limits = limits_of(c, r),
        };
    }
    c->out->qos = found;
    c->out->qos_count = count;
}

/* ---- accounts and users ---- */

enum { ACCOUNT_DEPTH_MAX = 64 };

struct accounts {
    struct slurm_reading *c;
    struct slurm_account *list;
    size_t count, size;
    struct name_index ids;
};

/* The association of that id, a new one if there is none yet. */
static struct slurm_account *account(struct accounts *x, const char *id)
{
    size_t at = name_index_find(&x->ids, id);

    if (at != NAME_NOT_FOUND)
        return &x->list[at];
    assert(x->count < x->size);
    name_index_add(&x->ids, id, x->count);
    x->list[x->count] = (struct slurm_account){.id = id, .shares = 1, .usage_s = NAN};
    return &x->list[x->count++];
}

/* That of an account, or of a user in it. */
static struct slurm_account *association(struct accounts *x, const char *name,
                                         const char *user)
{
    struct slurm_account *found;

    if (!user)
        return account(x, name);
    found = account(x, arena_printf(x->c->arena, "%s/%s", name, user));
    found->parent_id = name;
    found->user_id = user;
    return found;
}

static void set_shares(struct slurm_account *a, const struct slurm_record *r)
{
    double shares = slurm_number_of(r, SLURM_F_SHARES);
    double usage_s = slurm_number_of(r, SLURM_F_USAGE);

    if (shares >= 0 && isfinite(shares))
        a->shares = shares;
    if (usage_s >= 0 && isfinite(usage_s))
        a->usage_s = usage_s;
}

/* A share of JSON, which names what is above it. */
static void read_share(struct accounts *x, const struct slurm_record *r)
{
    const char *name = slurm_text_of(r, SLURM_F_NAME);
    const char *parent = slurm_text_of(r, SLURM_F_PARENT);
    struct slurm_account *a;

    if (!name)
        return;
    if (parent && slurm_has_word(r->value[SLURM_F_TYPE], "USER")) {
        set_shares(association(x, parent, name), r);
        return;
    }
    a = account(x, name);
    a->parent_id = parent && strcmp(parent, name) != 0 ? parent : NULL;
    set_shares(a, r);
}

/* sshare: in a table the blanks before an account say how deep it is. */
static void read_shares(struct accounts *x, const struct slurm_list *list)
{
    const char *above[ACCOUNT_DEPTH_MAX] = {NULL};

    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *name = r->value[SLURM_F_ACCOUNT];
        const char *user = slurm_text_of(r, SLURM_F_USER);
        size_t depth;

        budget_read_step(64);
        if (r->form == SLURM_JSON) {
            read_share(x, r);
            continue;
        }
        depth = name ? strspn(name, " ") : 0;
        if (!name || !name[depth] || depth >= ACCOUNT_DEPTH_MAX) {
            slurm_note(x->c, SLURM_NOTE_NO_ID, NULL, SLURM_SHARE, r);
            continue;
        }
        name += depth;
        set_shares(association(x, name, user), r);
        if (!user) {
            account(x, name)->parent_id = depth > 0 ? above[depth - 1] : NULL;
            above[depth] = name;
        }
    }
}

/* sacctmgr: limits, QOS, and the shares where nothing else tells of them. */
static void read_associations(struct accounts *x, const struct slurm_list *list,
                              const char *cluster, bool has_shares)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *name = slurm_text_of(r, SLURM_F_ACCOUNT);
        const char *of = slurm_text_of(r, SLURM_F_CLUSTER);
        struct slurm_account *a;

        budget_read_step(64);
        if (of && cluster && strcmp(of, cluster) != 0) {
            slurm_note(x->c, SLURM_NOTE_OTHER_CLUSTER, of, SLURM_ASSOCIATION, r);
            continue;
        }
        if (!name) {
            slurm_note(x->c, SLURM_NOTE_NO_ID, NULL, SLURM_ASSOCIATION, r);
            continue;
        }
        a = association(x, name, slurm_text_of(r, SLURM_F_USER));
        if (!has_shares) {
            const char *parent = slurm_text_of(r, SLURM_F_PARENT);

            set_shares(a, r);
            if (!a->user_id && strcmp(name, "root") != 0)
                a->parent_id = parent ? parent : "root";
        }
        a->limits = limits_of(x->c, r);
        a->qos_ids = slurm_texts_of(x->c, r, SLURM_F_QOS, NULL);
        a->default_qos_id = slurm_text_of(r, SLURM_F_QOS_DEFAULT);
    }
}

/* The cluster that all is about: by its configuration, its jobs, or the first row. */
static const char *cluster_of(const struct slurm_records *from, const char *configured)
{
    static const enum slurm_kind kinds[] = {SLURM_JOB, SLURM_ASSOCIATION};

    for (size_t i = 0; i < 2 && !configured; i++)
        if (from->of[kinds[i]].count > 0)
            configured = slurm_value(&from->of[kinds[i]].records[0], SLURM_F_CLUSTER);
    return configured;
}

void slurm_read_accounts(struct slurm_reading *c)
{
    const struct slurm_list *shares = &c->from->of[SLURM_SHARE];
    const struct slurm_list *rows = &c->from->of[SLURM_ASSOCIATION];
    struct accounts x = {.c = c, .size = shares->count + rows->count};

    c->out->name = cluster_of(c->from, c->out->name);
    if (x.size == 0)
        return;
    x.list = NEW(c->arena, struct slurm_account, x.size);
    name_index_create(&x.ids, x.size, c->arena);
    read_shares(&x, shares);
    read_associations(&x, rows, c->out->name, shares->count > 0);
    c->out->accounts = x.list;
    c->out->account_count = x.count;
}

/* ---- what is named and unknown ---- */

struct completing {
    struct slurm_reading *c;
    struct name_index qos, accounts, reservations;
    struct slurm_qos *qos_list;
    struct slurm_account *account_list;
    size_t qos_size, account_size;
};

static void need_qos(struct completing *x, const char *id)
{
    struct slurm_cluster *out = x->c->out;

    if (!id || name_index_find(&x->qos, id) != NAME_NOT_FOUND)
        return;
    if (out->qos_count == x->qos_size) {
        size_t size = 2 * x->qos_size + 8;

        x->qos_list = GROW(x->c->arena, x->qos_list, struct slurm_qos, x->qos_size, size);
        out->qos = x->qos_list;
        x->qos_size = size;
    }
    name_index_add(&x->qos, id, out->qos_count);
    x->qos_list[out->qos_count++] = (struct slurm_qos){.id = id, .usage_factor = 1};
    slurm_note(x->c, SLURM_NOTE_UNKNOWN_QOS, id, SLURM_QOS, NULL);
}

static void need_all_qos(struct completing *x, const struct slurm_texts *ids)
{
    budget_read_step(1 + 8 * ids->count);
    for (size_t i = 0; i < ids->count; i++)
        need_qos(x, ids->list[i]);
}

static void need_account(struct completing *x, const char *id)
{
    struct slurm_cluster *out = x->c->out;

    if (!id || name_index_find(&x->accounts, id) != NAME_NOT_FOUND)
        return;
    if (out->account_count == x->account_size) {
        size_t size = 2 * x->account_size + 8;

        x->account_list = GROW(x->c->arena, x->account_list, struct slurm_account,
                               x->account_size, size);
        out->accounts = x->account_list;
        x->account_size = size;
    }
    name_index_add(&x->accounts, id, out->account_count);
    x->account_list[out->account_count++] =
        (struct slurm_account){.id = id, .usage_s = NAN};
    slurm_note(x->c, SLURM_NOTE_UNKNOWN_ACCOUNT, id, SLURM_ASSOCIATION, NULL);
}

static void need_all_accounts(struct completing *x, const struct slurm_texts *ids)
{
    budget_read_step(1 + 8 * ids->count);
    for (size_t i = 0; i < ids->count; i++)
        need_account(x, ids->list[i]);
}

/* How many names there may be at most; whether anything is asked of accounts. */
static size_t count_names(const struct slurm_cluster *out, bool *has_accounts)
{
    size_t count = out->running_count + out->waiting_count + out->qos_count +
                   3 * out->account_count + out->partition_count;

    *has_accounts = out->account_count > 0;
    for (size_t i = 0; i < out->partition_count; i++) {
        const struct slurm_partition *p = &out->partitions[i];

        count += p->qos_allowed.count + p->accounts_allowed.count;
        count += p->accounts_denied.count;
        *has_accounts |= p->accounts_allowed.count > 0 || p->accounts_denied.count > 0;
    }
    for (size_t i = 0; i < out->reservation_count; i++) {
        count += out->reservations[i].accounts_allowed.count;
        *has_accounts |= out->reservations[i].accounts_allowed.count > 0;
    }
    for (size_t i = 0; i < out->qos_count; i++)
        count += out->qos[i].preempts.count;
    for (size_t i = 0; i < out->account_count; i++)
        count += out->accounts[i].qos_ids.count;
    budget_read_step(out->partition_count + out->reservation_count + out->qos_count +
                     out->account_count);
    return count;
}

static void index_known(struct completing *x, size_t name_count)
{
    struct slurm_cluster *out = x->c->out;
    struct arena *a = x->c->arena;

    name_index_create(&x->qos, name_count + 1, a);
    name_index_create(&x->accounts, name_count + 1, a);
    name_index_create(&x->reservations, out->reservation_count + 1, a);
    for (size_t i = 0; i < out->qos_count; i++)
        name_index_add(&x->qos, out->qos[i].id, i);
    for (size_t i = 0; i < out->account_count; i++)
        name_index_add(&x->accounts, out->accounts[i].id, i);
    for (size_t i = 0; i < out->reservation_count; i++)
        name_index_add(&x->reservations, out->reservations[i].id, i);
    budget_read_step(8 * (out->qos_count + out->account_count + out->reservation_count));
    x->qos_list = NEW(a, struct slurm_qos, x->qos_size = out->qos_count);
    x->account_list = NEW(a, struct slurm_account, x->account_size = out->account_count);
    if (out->qos_count > 0)
        memcpy(x->qos_list, out->qos, out->qos_count * sizeof(*out->qos));
    if (out->account_count > 0)
        memcpy(x->account_list, out->accounts,
               out->account_count * sizeof(*out->accounts));
    out->qos = x->qos_list;
    out->accounts = x->account_list;
}

static void complete_waiting(struct completing *x, bool has_accounts)
{
    const struct slurm_cluster *out = x->c->out;

    for (size_t i = 0; i < out->waiting_count; i++) {
        struct slurm_waiting *w = &x->c->waiting[i];

        budget_read_step(24);
        need_qos(x, w->qos_id);
        if (has_accounts)
            need_account(x, w->account_id);
        if (!w->reservation_id ||
            name_index_find(&x->reservations, w->reservation_id) != NAME_NOT_FOUND)
            continue;
        slurm_note(x->c, SLURM_NOTE_UNKNOWN_RESERVATION, w->reservation_id, SLURM_JOB,
                   NULL);
        if (!w->unplaced)
            w->unplaced = slurm_unplaced_names[SLURM_UNKNOWN_RESERVATION];
    }
}

void slurm_complete(struct slurm_reading *c)
{
    struct completing x = {.c = c};
    struct slurm_cluster *out = c->out;
    bool has_accounts;

    index_known(&x, count_names(out, &has_accounts));
    for (size_t i = 0; i < out->running_count; i++) {
        budget_read_step(16);
        need_qos(&x, out->running[i].qos_id);
        if (has_accounts)
            need_account(&x, out->running[i].account_id);
    }
    complete_waiting(&x, has_accounts);
    for (size_t i = 0; i < out->partition_count; i++) {
        need_qos(&x, out->partitions[i].qos_id);
        need_all_qos(&x, &out->partitions[i].qos_allowed);
        need_all_accounts(&x, &out->partitions[i].accounts_allowed);
        need_all_accounts(&x, &out->partitions[i].accounts_denied);
    }
    for (size_t i = 0; i < out->reservation_count; i++)
        need_all_accounts(&x, &out->reservations[i].accounts_allowed);
    for (size_t i = 0, count = out->qos_count; i < count; i++)
        need_all_qos(&x, &out->qos[i].preempts);
    for (size_t i = 0; i < out->account_count; i++) {
        need_qos(&x, out->accounts[i].default_qos_id);
        need_all_qos(&x, &out->accounts[i].qos_ids);
    }
}
