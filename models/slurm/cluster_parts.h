/* cluster_parts.h - what the files that convert Slurm's records share. */
#ifndef GRIDPLAN_SLURM_CLUSTER_PARTS_H
#define GRIDPLAN_SLURM_CLUSTER_PARTS_H

#include "models/slurm/cluster.h"

/* Warnings and losses: symbol, whether it is a loss, code or what is lost, sentence. */
#define SLURM_NOTES(X)                                                                   \
    X(NOW, false, "guessed",                                                             \
      "now_s is the time of receipt: no document says when it was made")                 \
    X(EMPTY, false, "skipped",                                                           \
      "documents in which nothing is, as of a command that failed")                      \
    X(TIME_ZONE, false, "guessed",                                                       \
      "times written as text are taken for UTC: tz_offset_s was not given")              \
    X(NO_LIMIT, false, "guessed",                                                        \
      "jobs without a time limit, in partitions without one, count as 365 days")         \
    X(PARTITIONS, false, "guessed",                                                      \
      "no document of partitions: they are those that the nodes name, without limits")   \
    X(HELD_EVENLY, false, "guessed",                                                     \
      "running jobs of which no document says what they have of each node: an equal "    \
      "part")                                                                            \
    X(NO_CPUS, false, "guessed",                                                         \
      "running jobs of which no document says how many CPUs they have: one of each "     \
      "node")                                                                            \
    X(NO_ASKED, false, "guessed",                                                        \
      "waiting jobs of which no document says how many CPUs they ask for: one of each "  \
      "node")                                                                            \
    X(NO_MEMORY, false, "guessed",                                                       \
      "waiting jobs of which a table does not say what memory they ask for: none")       \
    X(MIN_MEMORY, false, "guessed",                                                      \
      "waiting jobs of whose MIN_MEMORY a table does not say whether it is that of a "   \
      "node or of a CPU: of a node")                                                     \
    X(ZERO_MEMORY, false, "guessed",                                                     \
      "waiting jobs whose MIN_MEMORY a table has as 0, which is all memory of a node "   \
      "(--mem=0), or nothing where Slurm does not count memory: none")                   \
    X(LIMIT_DEFAULT, false, "guessed",                                                   \
      "jobs of which a table does not say the time limit: that of their partition")      \
    X(NO_BEGIN, false, "guessed",                                                        \
      "jobs wait for a time that no document says: here they may start now")             \
    X(NO_AFTER, false, "guessed",                                                        \
      "jobs wait for others that no document names: here they may start now")            \
    X(NO_NODES, false, "skipped",                                                        \
      "running jobs of which no document says on which nodes they are are left out")     \
    X(NODE_CPUS, false, "guessed",                                                       \
      "nodes of which no document says how many CPUs they have: nothing limits them")    \
    X(UNKNOWN_PARTITION, false, "unknown_partition",                                     \
      "jobs name partitions that no document has")                                       \
    X(UNKNOWN_NODE, false, "unknown_node",                                               \
      "nodes are named that no document has; they are left out")                         \
    X(BAD_HOSTS, false, "malformed", "lists of hosts that cannot be read are left out")  \
    X(BAD_TEXT, false, "malformed",                                                      \
      "texts of dependencies that cannot be read are left out")                          \
    X(LARGE_AMOUNT, false, "clamped",                                                    \
      "amounts of licences and generic resources above 10^9 count as 10^9")              \
    X(MIXED_AFTER, false, "guessed",                                                     \
      "dependencies with both , and ?: any of them suffices")                            \
    X(BAD_ARRAY, false, "malformed",                                                     \
      "arrays of which the tasks cannot be read, or that are too many, count as one "    \
      "job")                                                                             \
    X(NO_ID, false, "skipped", "records without a name are left out")                    \
    X(TWICE, false, "skipped", "records of a name that was there before are left out")   \
    X(ODD_ROWS, false, "guessed", "rows of tables with a | in a name or a comment")      \
    X(CUT_ROWS, false, "skipped", "rows of tables with too few or too many fields")      \
    X(PARAMETERS, false, "ignored",                                                      \
      "parameters of SchedulerParameters without an effect here, or beyond Slurm's "     \
      "bounds, for which it takes its default")                                          \
    X(SELECT, false, "ignored", "a SelectType that is not known here")                   \
    X(OTHER_CLUSTER, false, "skipped", "rows of other clusters")                         \
    X(UNKNOWN_QOS, false, "unknown_qos",                                                 \
      "a QOS is named that no document has: here it has no limits and priority 0")       \
    X(UNKNOWN_ACCOUNT, false, "unknown_account",                                         \
      "jobs name accounts that no document has: here these have no shares")              \
    X(UNKNOWN_RESERVATION, false, "unknown_reservation",                                 \
      "jobs wait for reservations that no document has")                                 \
    X(UNEQUAL, false, "guessed",                                                         \
      "rows of sinfo for nodes that are not alike: each has the least of them")          \
    X(UNKNOWN_STATE, false, "skipped", "jobs of a state that is not known are left out") \
    X(SUSPENDED, false, "ignored", "suspended jobs hold their memory without an end")    \
    X(HET, true, "heterogeneous_job", "")                                                \
    X(BURST_BUFFER, true, "burst_buffer", "")                                            \
    X(BURST_AFTER, true, "afterburstbuffer", "")                                         \
    X(SWITCHES, true, "switches", "")                                                    \
    X(CORE_SPEC, true, "core_specialisation", "")                                        \
    X(SHARD, true, "mps_or_shard", "")                                                   \
    X(FEDERATION, true, "federation", "")                                                \
    X(DEADLINE, true, "deadline", "")                                                    \
    X(RESERVED_CORES, true, "reservation_of_cores", "")                                  \
    X(RESERVATION_USERS, true, "reservation_denies_users", "")                           \
    X(RESERVATION_REPEATS, true, "reservation_repeats", "")                              \
    X(LIMITS, true, "limits", "")

enum slurm_note {
#define X(symbol, is_loss, code, text) SLURM_NOTE_##symbol,
    SLURM_NOTES(X)
#undef X
        SLURM_NOTE_COUNT
};

/* While records are converted. */
struct slurm_reading {
    const struct slurm_records *from;
    const struct slurm_options *options;
    struct slurm_cluster *out;
    struct name_index nodes, partitions;
    struct slurm_waiting *waiting; /* that of out */
    size_t noted[SLURM_NOTE_COUNT];
    const char *example[SLURM_NOTE_COUNT][3];
    const char *pointer[SLURM_NOTE_COUNT];
    struct arena *arena;
};

/* Counts it, with an example (may be NULL) and the record it is about (may be NULL). */
void slurm_note(struct slurm_reading *c, enum slurm_note note, const char *example,
                enum slurm_kind kind, const struct slurm_record *record);

/* A text as it is to be kept: NULL when it says nothing. */
const char *slurm_text_of(const struct slurm_record *r, enum slurm_field field);
double slurm_number_of(const struct slurm_record *r, enum slurm_field field);

/* Minutes in JSON, and in text where it is a plain number; NAN: none or no limit. */
double slurm_limit_of(const struct slurm_record *r, enum slurm_field field);
double slurm_instant_of(struct slurm_reading *c, const struct slurm_record *r,
                        enum slurm_field field);

/* A list with commas; `all`: a word that means that nothing is said; NULL. */
struct slurm_texts slurm_texts_of(struct slurm_reading *c, const struct slurm_record *r,
                                  enum slurm_field field, const char *all);

/* Hosts that a document of nodes has, in the order of the text. */
struct slurm_texts slurm_hosts_of(struct slurm_reading *c, const char *text,
                                  enum slurm_kind kind,
                                  const struct slurm_record *record);

bool slurm_has_word(const char *list, const char *word);

/* Amounts by name: adds to what is there. */
struct slurm_sums {
    struct named_value *list;
    size_t count, size;
    struct arena *arena;
};
void slurm_sums_add(struct slurm_sums *s, const char *name, double count);
void slurm_sums_add_all(struct slurm_sums *s, struct slurm_amounts amounts);
/* A limit: 0 is one, too. */
void slurm_sums_limit(struct slurm_sums *s, const char *name, double count);

#define SLURM_AMOUNT_MAX 1e9 /* as of named amounts elsewhere */

/* The sums as amounts, each at most what one may be here; a larger one is noted. */
struct slurm_amounts slurm_amounts_of(struct slurm_reading *c, struct slurm_sums *s,
                                      enum slurm_kind kind,
                                      const struct slurm_record *record);

/* What it is called here: gres/gpu and gpu: gpus; NULL: it is no amount here. */
const char *slurm_gres_name(const char *name, const char *type, struct arena *a);

/* Parts of a device, which no node has here: mps, shard; with "gres/" before it or not.
 */
bool slurm_is_shard(const char *name);

const char *slurm_licence_name(const char *name, struct arena *a);

/* The value of a key of the configuration; NULL: it is not there. */
const char *slurm_config(const struct slurm_records *from, const char *key);

/* "matlab:2,ansys:1" */
struct slurm_amounts slurm_licences(const char *text, struct arena *a);

void slurm_read_jobs(struct slurm_reading *c);
void slurm_read_policy(struct slurm_reading *c);
void slurm_read_accounts(struct slurm_reading *c);
void slurm_read_qos(struct slurm_reading *c);

/* What is named and no document has: queues take names that they know only. */
void slurm_complete(struct slurm_reading *c);

#endif
