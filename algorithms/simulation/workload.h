/* simulation/workload.h - the jobs that a simulated grid gets.
 *
 * A generator makes jobs one by one, arrivals in ascending order. What it draws
 * comes from streams of its own ("job.arrival", "job.length" ...), so that every
 * policy that is compared gets the same jobs, and one quantity does not disturb
 * another. Memory is O(1), but for: a day's batches (tornado_batch), an index of the
 * jobs that were given (batch, swf).
 *
 *     workload_prepare(&w, "/workload", a, err);          once
 *     workload_open(&w, seed, horizon_s, &source, a, err);    once a run
 *     while (workload_next(source, &job)) ...
 *
 * Times are seconds from the begin of the run; work is MI, seconds on a resource of
 * 1 MIPS that runs nothing else.
 *
 * Source: spec simulator.md 3.5, 3.8, 9, 14; fault-tolerance.md 9.1 to 9.5.
 */
#ifndef GRIDPLAN_WORKLOAD_H
#define GRIDPLAN_WORKLOAD_H

#include "models/distribution.h"
#include "models/swf.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_NOT_PINNED SIZE_MAX /* the job may run on any resource */
#define SIM_ANY_USER   SIZE_MAX /* of a job that is given: the user is drawn */

struct sim_job {
    uint64_t number;              /* 0, 1, 2 ... in the order of arrival */
    double arrival_s;             /* >= 0, below the horizon */
    double length_mi;             /* >= 0, per CPU */
    double input_bytes;           /* >= 0 */
    double output_bytes;          /* >= 0 */
    double checkpoint_bytes;      /* >= 0 */
    double checkpoint_overhead_s; /* C, >= 0: run time that a checkpoint adds */
    size_t user;                  /* < workload_user_count() */
    size_t resource;              /* where it must run, or SIM_NOT_PINNED */
    uint64_t cpus;                /* >= 1 */
    double mips_required;         /* of a session: its share of a resource; NAN: none */
    double session_s;             /* of a session: how long it stays; NAN: none */
    double requested_s;           /* run time that the user asked for; NAN: not known */
    size_t given; /* index in jobs or swf_jobs of the workload; SIZE_MAX: generated */
};

/* symbol, name, purpose, source */
#define WORKLOAD_GENERATORS(X)                                                           \
    X(BATCH, batch, "Jobs that are given one by one", "simulator.md 9 (trace)")          \
    X(INTERFACES, interfaces, "The jobs of several user interfaces together",            \
      "000_168dd5aef5075332 2.2")                                                        \
    X(LUBLIN, lublin, "Arrivals in a daily cycle with bursts, run times of few classes", \
      "simulator.md 9.1; Lublin and Feitelson 2003")                                     \
    X(POISSON, poisson, "Exponential gaps and lengths, as in M/M/c queues", "ours")      \
    X(SIMPLE_DAILY, simple_daily, "An exact number of jobs in a daily cycle",            \
      "simulator.md 9")                                                                  \
    X(SWF, swf, "Jobs of a log in Standard Workload Format", "simulator.md 9 (trace)")   \
    X(TORNADO_BATCH, tornado_batch,                                                      \
      "Users who submit large batches once or twice a day", "000_168dd5aef5075332 3.4")  \
    X(UNIFORM_STREAM, uniform_stream, "Jobs at short even gaps",                         \
      "000_168dd5aef5075332 3")                                                          \
    X(VM_SESSION, vm_session, "Sessions that need a share of a resource for a time",     \
      "000_168dd5aef5075332 2.2")

enum workload_generator {
#define X(symbol, name, purpose, source) WORKLOAD_##symbol,
    WORKLOAD_GENERATORS(X)
#undef X
        WORKLOAD_GENERATOR_COUNT
};

struct workload_generator_kind {
    const char *name, *purpose, *source;
};

/* By enum workload_generator, ended by {0}; and the names alone, ended by NULL. */
extern const struct workload_generator_kind workload_generators[];
extern const char *const workload_generator_names[];

/* The Lublin model's parameters; high and low are set so as to meet the workloads of
 * 000_168dd5aef5075332, chapter 4 (7000 and 700 jobs in 7 days).
 * symbol, name, aarr, barr, anum, bnum, arar, a1, b1, a2, b2, pa, pb */
#define LUBLIN_SETS(X)                                                                   \
    X(BATCH, batch, 6.0415, 0.8531, 6.1271, 5.2740, 1.0519, 6.57, 0.823, 639.1, 0.0156,  \
      -0.003, 0.6986)                                                                    \
    X(INTERACTIVE, interactive, 6.5510, 0.6621, 8.9186, 3.6680, 0.9797, 3.8351, 0.6605,  \
      7.073, 0.6856, -0.0118, 0.9156)                                                    \
    X(ALL, all, 10.2303, 0.4871, 8.1737, 3.9631, 1.0225, 4.2, 0.94, 312, 0.03, -0.0054,  \
      0.78)                                                                              \
    X(HIGH, high, 6.6784, 0.4871, 6.1271, 5.2740, 1, 221.26, 0.04034, 221.26, 0.04034,   \
      0, 1)                                                                              \
    X(LOW, low, 10.4224, 0.4871, 8.1737, 3.9631, 1, 128.62, 0.05290, 128.62, 0.05290, 0, \
      1)

enum lublin_set {
#define X(symbol, ...) LUBLIN_##symbol,
    LUBLIN_SETS(X)
#undef X
        LUBLIN_SET_COUNT
};

extern const char *const lublin_set_names[]; /* by enum lublin_set, ended by NULL */

struct lublin {
    enum lublin_set set;
    /* NAN: that of the set. Shapes 0.05 .. 1e6, scales > 0. */
    double aarr, barr, arar; /* gaps: exp(Gamma(aarr * arar, barr)) s on average */
    double anum, bnum;       /* daily cycle: Gamma in half hours from 5:30 */
    double a1, b1, a2, b2;   /* run time: exp(Gamma) s, of two classes */
    double pa, pb;           /* probability of the first: pa * nodes + pb */
};

struct workload;

/* A user interface: where jobs come from. Its streams are its own. */
struct workload_interface {
    const char *id;
    const struct workload *workload; /* prepared; not of the generator interfaces */
};

/* What to generate. Members that a generator does not use are ignored, as a preset
 * fills them for many. NULL, NAN and 0 stand for the generator's own choice, which
 * workload_prepare() fills in. */
struct workload {
    enum workload_generator generator;
    double start_s; /* midnight of the first day, >= 0; NAN: 0 */
    double stop_s;  /* no arrivals from then on; NAN: the horizon */
    /* simple_daily: exactly so many (preset 7000). lublin: exactly so many up to the
     * horizon, the gaps being stretched alike (0: as the model has it). Others: at
     * most so many, 0: no limit. At most 10^6. */
    uint64_t job_count;
    bool truncates; /* job_count is none of the caller's: what comes later is missed */
    uint64_t user_count; /* preset 1, tornado_batch 10; batch: as given */

    /* Seconds between arrivals: uniform_stream U(60, 300), poisson and vm_session
     * exponential of mean 60. */
    const struct distribution *arrival_gap_s;
    /* MI. uniform_stream 600, tornado_batch normal 600, 120, at least 60, simple_daily
     * lognormal of mean 9000 and sigma 0.6, poisson exponential of mean 3600; lublin
     * by its own model. */
    const struct distribution *length_mi;
    /* Preset 0; tornado_batch: input 2e6, output 10e6. */
    const struct distribution *input_bytes, *output_bytes, *checkpoint_bytes;
    /* NULL: 0.1 + 4.9 * min(1, length_mi / 36000) s (fault-tolerance.md 9.3). */
    const struct distribution *checkpoint_overhead_s;
    double checkpoint_overhead_factor; /* on either, >= 0; NAN: 1 */

    uint64_t batch_size;  /* tornado_batch: jobs in a batch; 0: 1000 */
    uint64_t batches_min; /* tornado_batch: batches of a user and day; 0: 1 */
    uint64_t batches_max; /* every number from batches_min on is as likely; 0: 2 */

    struct lublin lublin;

    const struct sim_job *jobs; /* batch: in any order; NAN bytes, overhead, SIM_ANY_USER
                                   and cpus 0 are filled as for generated jobs */
    size_t given_count;

    const struct swf_job *swf_jobs; /* swf: usable ones (swf.h), in any order */
    size_t swf_job_count;
    double swf_mips; /* swf: speed of the machine of the log; NAN: 1 */

    const struct distribution *mips_required; /* vm_session: preset 1 */
    const struct distribution *session_s;     /* vm_session: exponential of mean 3600 */

    /* interfaces: their users and what they were given are numbered one after the other,
     * of jobs that come together the first interface's is first. */
    const struct workload_interface *interfaces;
    size_t interface_count;
};

/* A workload with nothing given: the generator's own choices. */
struct workload workload_blank(enum workload_generator generator);

/* The workloads of the experiments in spec simulator.md 14; generator and all that
 * differs from workload_blank(). */
struct workload_preset {
    const char *name, *purpose;
    enum workload_generator generator;
    enum lublin_set set;
    uint64_t job_count;
    double mean_length_mi; /* NAN: the generator's */
    double bytes;          /* input and output; NAN: the generator's */
    double checkpoint_bytes;
    double checkpoint_overhead_factor;
};

extern const struct workload_preset workload_presets[]; /* by name, ended by {0} */

/* Fills *w with the preset of this name, its distributions in `a`; ERR_NOT_FOUND with
 * `field` "" if there is none. */
enum error_code workload_from_preset(const char *name, struct workload *w,
                                     struct arena *a, struct error *err);

/* Checks *w and fills in what was left open. Mistakes are added to *err with pointers
 * below `pointer`, the JSON Pointer of the workload. The distributions of *w are then
 * prepared copies in `a`. O(jobs given). */
enum error_code workload_prepare(struct workload *w, const char *pointer, struct arena *a,
                                 struct error *err);

struct workload_source;

/* A new stream of the jobs that arrive in [0, horizon_s); the same for the same seed.
 * `config` must be prepared and outlive the source. horizon_s > 0; simple_daily, and
 * lublin with a job_count, need a finite one (ERR_INVALID). Costs O(1); O(n log n) for
 * jobs that are given; lublin with a job_count draws its gaps twice. */
enum error_code workload_open(const struct workload *config, uint64_t seed,
                              double horizon_s, struct workload_source **source,
                              struct arena *a, struct error *err);

/* The next job; false: there is none. */
bool workload_next(struct workload_source *source, struct sim_job *job);

/* After the last job: when the next one would have come, had job_count not truncated the
 * workload; HUGE_VAL: it has not. */
double workload_truncated_s(const struct workload_source *source);

/* Users are numbered from 0. At most 10^6 (ERR_INVALID of workload_prepare). */
size_t workload_user_count(const struct workload_source *source);

/* The weights of the 48 half hours of a day, mean 1 (spec 9.1). */
void lublin_weights(double anum, double bnum, double weight[48]);

/* Seconds that a checkpoint of a job adds, growing with its length
 * (fault-tolerance.md 9.3). */
double checkpoint_overhead_of(double length_mi);

#endif
