/* store_machine.h - effects of machines on run times, and the runs they come from.
 *
 * The rules and errors of store.h hold here too.
 */
#ifndef GRIDPLAN_STORE_MACHINE_H
#define GRIDPLAN_STORE_MACHINE_H

#include "service/store.h"

struct store_machine_effect {
    const char *machine; /* resource_class of its runs, or the site_id of others */
    double effect;       /* ln of the factor of run times there */
    uint64_t run_count;
    bool is_alone; /* it shares no configuration with another machine */
};

/* By machine (bytewise). */
enum error_code store_machine_effects(struct db_session *s, const char *tenant,
                                      const struct store_page *page,
                                      const struct store_machine_effect **list,
                                      size_t *count, const char **next_token,
                                      struct arena *a, struct error *err);

/* Effects are worked out at most so often. */
#define STORE_MACHINE_EFFECTS_AGE_S 60.0

/* Models have learnt runs: a model of the tenant waits to be refined (see
 * store_models_waiting()) when the effects are old enough to be worked out. */
enum error_code store_machine_effects_stale(struct db_session *s, const char *tenant,
                                            struct error *err);

/* *ours: they were worked out longer than age_s ago, and are to be now, by the caller. */
enum error_code store_machine_effects_due(struct db_session *s, const char *tenant,
                                          double age_s, bool *ours, struct arena *a,
                                          struct error *err);

/* A run that a model of kind auto, of all sites, has learnt. */
struct store_machine_run {
    const char *machine;
    const char *model_id;
    const char *cell; /* equal for runs that are alike but for the machine */
    double run_time_s;
};

/* The latest, of whole runs whose machine is known. */
enum error_code store_machine_runs(struct db_session *s, const char *tenant, size_t limit,
                                   const struct store_machine_run **list, size_t *count,
                                   struct arena *a, struct error *err);

/* Instead of those that are stored; `rows` is a JSON array of {machine, effect,
 * run_count, is_alone}. */
enum error_code store_machine_effects_write(struct db_session *s, const char *tenant,
                                            const char *rows, struct error *err);

#endif
