/* checkpoint_render.c - checkpoint intervals as settings of other tools.
 *
 * SCR, VeloC and DMTCP count in seconds, FTI in minutes (configuration examples of
 * its documentation); all in whole ones, rounded half up, at least 1. A job that
 * never checkpoints says so to DMTCP only: the others have no such value, or 0
 * means another thing. Slurm has no interval: its signal comes before the time
 * limit, early enough for two checkpoints, at least 60 s; sbatch takes no lead above
 * 65535 s, and then has no text. The time limit itself, in minutes rounded up, is asked
 * for by an option.
 *
 * Source: spec fault-tolerance.md 11 (render), reliability.md 5.
 */
#include "handlers/checkpoint/checkpoint_render.h"

#include "models/base/names.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

#define T struct checkpoint_rendered
static const struct json_field rendered_rows[] = {
    JSON_TEXT(T, scr, JSON_OPTIONAL, "Environment of SCR"),
    JSON_TEXT(T, veloc, JSON_OPTIONAL, "Line of VeloC's configuration file"),
    JSON_TEXT(T, fti, JSON_OPTIONAL,
              "Lines of FTI's configuration file, section Basic: without levels level 4, "
              "the only one whose images outlive every node, or options.fti_level"),
    JSON_TEXT(T, dmtcp, JSON_OPTIONAL, "Option of dmtcp_launch and dmtcp_coordinator"),
    JSON_TEXT(
        T, slurm, JSON_OPTIONAL,
        "Options of sbatch: a signal before the time limit, to checkpoint then; with "
        "options.slurm_time_quantile the limit, in minutes"),
    {0},
};
#undef T
const struct json_object checkpoint_rendered_json = {
    "RenderedCheckpoint", "The interval as settings of other tools",
    sizeof(struct checkpoint_rendered), rendered_rows};

/* A tool's text; NULL: it has none for this. */
typedef void render_fn(const struct checkpoint_setting *x, const char **text,
                       struct arena *a);

static double whole(double units)
{
    return fmax(1, floor(units + 0.5));
}

static void render_every(const char *format, double units, const char **text,
                         struct arena *a)
{
    char number[32];

    *text = NULL;
    if (isinf(units))
        return;
    snprintf(number, sizeof(number), "%.0f", whole(units));
    *text = arena_printf(a, "%s%s", format, number);
}

static void render_scr(const struct checkpoint_setting *x, const char **text,
                       struct arena *a)
{
    render_every("SCR_CHECKPOINT_SECONDS=", x->interval_s, text, a);
}

static void render_veloc(const struct checkpoint_setting *x, const char **text,
                         struct arena *a)
{
    render_every("persistent_interval = ", x->interval_s, text, a);
}

static void render_fti(const struct checkpoint_setting *x, const char **text,
                       struct arena *a)
{
    double minutes[] = {0, 0, 0, 0};

    *text = NULL;
    if (isinf(x->interval_s))
        return;
    minutes[(size_t)x->fti_level - 1] = whole(x->interval_s / 60);
    *text = arena_printf(a,
                         "ckpt_l1 = %.0f\nckpt_l2 = %.0f\nckpt_l3 = %.0f\n"
                         "ckpt_l4 = %.0f",
                         minutes[0], minutes[1], minutes[2], minutes[3]);
}

static void render_dmtcp(const struct checkpoint_setting *x, const char **text,
                         struct arena *a)
{
    *text = "--interval 0";
    if (!isinf(x->interval_s))
        render_every("--interval ", x->interval_s, text, a);
}

double checkpoint_slurm_lead_s(double saving_s)
{
    return ceil(fmax(60, 2 * saving_s));
}

static void render_slurm(const struct checkpoint_setting *x, const char **text,
                         struct arena *a)
{
    double lead_s = checkpoint_slurm_lead_s(x->saving_s);

    *text = NULL;
    if (lead_s > CHECKPOINT_SLURM_LEAD_MAX_S)
        return;
    render_every("--signal=B:USR1@", lead_s, text, a);
    if (!isnan(x->limit_s))
        *text = arena_printf(a, "%s --time=%.0f", *text, fmax(1, ceil(x->limit_s / 60)));
}

static const struct tool {
    const char *name;
    render_fn *render;
    size_t offset;
} tools_known[] = {
#define TOOL(name)                                                       \
    {                                                                    \
#name, render_##name, offsetof(struct checkpoint_rendered, name) \
    }
    TOOL(dmtcp), TOOL(fti), TOOL(scr), TOOL(slurm), TOOL(veloc),
#undef TOOL
};

enum { TOOL_COUNT = sizeof(tools_known) / sizeof(tools_known[0]) };

static const struct tool *find_tool(const char *name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (strcmp(tools_known[i].name, name) == 0)
            return &tools_known[i];
    return NULL;
}

void checkpoint_render_check(const char *const *tools, size_t count, struct error *err)
{
    const char *names[TOOL_COUNT];
    char hint[NAMES_HINT_BYTES];

    for (size_t i = 0; i < TOOL_COUNT; i++)
        names[i] = tools_known[i].name;
    for (size_t i = 0; i < count; i++) {
        if (find_tool(tools[i]))
            continue;
        invalid(err, pointer_in("/render", i, NULL).text, ITEM_NOT_A_CHOICE,
                "no such tool; %s",
                names_hint(tools[i], names, TOOL_COUNT, hint, sizeof(hint)));
        error_allow(err, tools[i], names, TOOL_COUNT);
    }
}

void checkpoint_render(const char *const *tools, size_t count,
                       const struct checkpoint_setting *x,
                       const struct checkpoint_rendered **out, struct arena *a)
{
    struct checkpoint_rendered *rendered = NEW(a, struct checkpoint_rendered, 1);

    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = find_tool(tools[i]);
        const char **text =
            (const char **)(void *)((char *)(void *)rendered + tool->offset);

        tool->render(x, text, a);
    }
    *out = rendered;
}
