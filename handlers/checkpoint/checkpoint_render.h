/* checkpoint_render.h - checkpoint intervals as settings of other tools. */
#ifndef GRIDPLAN_CHECKPOINT_RENDER_H
#define GRIDPLAN_CHECKPOINT_RENDER_H

#include "service/json.h"

/* Texts to paste; NULL: not asked for, or the tool has no such setting. */
struct checkpoint_rendered {
    const char *scr, *veloc, *fti, *dmtcp, *slurm;
};

extern const struct json_object checkpoint_rendered_json;

/* Notes what is no tool, "/render/INDEX". */
void checkpoint_render_check(const char *const *tools, size_t count, struct error *err);

/* What is to be set. */
struct checkpoint_setting {
    double interval_s; /* infinite: never */
    double saving_s;   /* a checkpoint is usable so long after it is asked for (C + L) */
    double fti_level;  /* 2 to 4: of the checkpoints */
    double limit_s;    /* time limit of the job; NAN: none */
};

void checkpoint_render(const char *const *tools, size_t count,
                       const struct checkpoint_setting *x,
                       const struct checkpoint_rendered **out, struct arena *a);

/* sbatch takes the signal at most so long before the time limit. */
#define CHECKPOINT_SLURM_LEAD_MAX_S 65535.0

/* How long before the limit it is wanted, for a checkpoint that is safe after
 * saving_s; whole seconds. */
double checkpoint_slurm_lead_s(double saving_s);

#endif
