/* records.h - Slurm's documents as records: one reader for all their forms.
 *
 * What squeue, sinfo, scontrol, sshare, sacctmgr and sacct print comes as JSON (--json
 * and slurmrestd, v0.0.36 and later), as records of key=value, or as a table with | or
 * blanks between columns. All of them become records: values by field, as text, whatever
 * the member, key or column is called. A JSON number that is {set, infinite, number} is
 * that number, nothing, or "infinite"; a list of texts is joined by commas; null is
 * nothing. Members, keys and columns that no field names are passed over.
 *
 * Source: Slurm's manual pages squeue(1), sinfo(1), scontrol(1), sshare(1), sacctmgr(1),
 * sacct(1), and the description of slurmrestd's interface.
 */
#ifndef GRIDPLAN_SLURM_RECORDS_H
#define GRIDPLAN_SLURM_RECORDS_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kind, list in JSON, first key of a record of text. */
#define SLURM_KINDS(X)                                \
    X(JOB, "jobs", "JobId")                           \
    X(NODE, "nodes", "NodeName")                      \
    X(PARTITION, "partitions", "PartitionName")       \
    X(RESERVATION, "reservations", "ReservationName") \
    X(LICENSE, "licenses", "LicenseName")             \
    X(SHARE, "shares", NULL)                          \
    X(ASSOCIATION, "associations", NULL)              \
    X(QOS, "qos", NULL)                               \
    X(EVENT, "events", NULL)                          \
    X(SINFO_PARTITION, "partitions", NULL)            \
    X(CONFIG, "config", NULL)

enum slurm_kind {
#define X(symbol, list, key) SLURM_##symbol,
    SLURM_KINDS(X)
#undef X
        SLURM_KIND_COUNT
};

/* Field, and what it is called: path in JSON, key, or column. */
#define SLURM_FIELDS(X)                                                                  \
    X(ID, "job_id|JobId|JOBID|JobID")                                                    \
    X(RAW_ID, "JobIDRaw")                                                                \
    X(ARRAY_JOB, "array_job_id|ArrayJobId|array.job_id|ARRAY_JOB_ID")                    \
    X(ARRAY_TASK, "array_task_id|ArrayTaskId|array.task_id|ARRAY_TASK_ID")               \
    X(ARRAY_TASKS, "array_task_string|array.task")                                       \
    X(ARRAY_MAX, "array_max_tasks|ArrayTaskThrottle|array.limits.max.running.tasks")     \
    X(NAME, "name|JobName|NodeName|PartitionName|ReservationName|LicenseName|NAME|Name") \
    X(STATE, "job_state|JobState|STATE|ST|state|State|state.current|partition.state|"    \
             "node.state")                                                               \
    X(STATE_FLAGS, "state_flags")                                                        \
    X(REASON, "state_reason|Reason|REASON|reason|state.reason|reason.description")       \
    X(USER, "user_name|USER|User|user|association.user")                                 \
    X(USER_ID, "UserId|user_id")                                                         \
    X(ACCOUNT, "account|Account|ACCOUNT|association.account")                            \
    X(QOS, "qos|QOS|QoS|qos.assigned")                                                   \
    X(PARTITION, "partition|Partition|PARTITION")                                        \
    X(PRIORITY, "priority|Priority|PRIORITY|priority.number")                            \
    X(NICE, "nice|Nice|NICE")                                                            \
    X(DEPENDENCY, "dependency|Dependency|DEPENDENCY")                                    \
    X(FLAGS, "flags|Flags")                                                              \
    X(FEATURES, "features|Features|AvailableFeatures|FEATURES|AVAIL_FEATURES|features."  \
                "total|AVAIL_FE")                                                        \
    X(LICENSES, "licenses|Licenses|LICENSES")                                            \
    X(SHARED, "shared|OverSubscribe|OVER_SUBSCRIBE|OVERSUBSCRIBE|OVERSUBS")              \
    X(EXCLUSIVE, "exclusive")                                                            \
    X(RESERVATION, "resv_name|Reservation|RESERVATION|reservation.name")                 \
    X(COMMENT, "Comment|comment.job")                                                    \
    X(REQUEUE, "requeue|Requeue")                                                        \
    X(TIME_LIMIT, "time_limit|TimeLimit|TIME_LIMIT|Timelimit|time.limit|TIME_LIMI")      \
    X(TIME_LIMIT_RAW, "TimelimitRaw")                                                    \
    X(TIME_MIN, "time_minimum|TimeMin")                                                  \
    X(SUBMIT, "submit_time|SubmitTime|SUBMIT_TIME|Submit|time.submission")               \
    X(ELIGIBLE, "eligible_time|EligibleTime|ELIGIBLE_TIME|Eligible|time.eligible")       \
    X(START,                                                                             \
      "start_time|StartTime|START_TIME|Start|time.start|TimeStart|time.node_start")      \
    X(END, "end_time|EndTime|END_TIME|End|time.end|TimeEnd")                             \
    X(ELAPSED, "RunTime|ElapsedRaw|Elapsed|time.elapsed|TIME")                           \
    X(DEADLINE, "deadline|Deadline")                                                     \
    X(REQ_NODES, "required_nodes|ReqNodeList|REQ_NODES")                                 \
    X(EXC_NODES, "excluded_nodes|ExcNodeList|EXC_NODES")                                 \
    X(NODES, "nodes|NodeList|Nodes|NODELIST|node_list|nodes.configured|nodes.nodes")     \
    X(AVAIL, "AVAIL")                                                                    \
    X(HOST, "HOSTNAMES")                                                                 \
    X(NODES_OR_REASON, "NODELIST(REASON)")                                               \
    X(NODE_COUNT,                                                                        \
      "node_count|NumNodes|NODES|NNodes|allocation_nodes|AllocNodes|ReqNodes")           \
    X(MAX_NODES, "max_nodes")                                                            \
    X(CPUS, "cpus|NumCPUs|CPUTot|CPUS|NCPUS|AllocCPUS|required.CPUs|cpus.minimum")       \
    X(CPUS_EFFECTIVE, "effective_cpus|CPUEfctv")                                         \
    X(CPU_STATES, "CPUS(A/I/O/T)")                                                       \
    X(SHAPE, "S:C:T")                                                                    \
    X(TYPE, "type")                                                                      \
    X(TASKS, "tasks|NumTasks|TASKS")                                                     \
    X(CPUS_PER_TASK, "cpus_per_task|CPUs/Task")                                          \
    X(TASKS_PER_NODE, "tasks_per_node|NtasksPerN:B:S:C")                                 \
    X(TRES, "TRES")                                                                      \
    X(TRES_ASKED, "tres_req_str|ReqTRES|tres.requested")                                 \
    X(TRES_GIVEN, "tres_alloc_str|AllocTRES|tres.allocated|TRES_ALLOC")                  \
    X(TRES_PER_NODE, "tres_per_node|TresPerNode|TRES_PER_NODE")                          \
    X(MEMORY_PER_CPU, "memory_per_cpu|MinMemoryCPU")                                     \
    X(MEMORY_PER_NODE, "memory_per_node|MinMemoryNode|MIN_MEMORY")                       \
    X(GRES_DETAIL, "gres_detail")                                                        \
    X(HELD_NODES, "job_resources.nodes|job_resources.nodes.list")                        \
    X(HET_JOB, "het_job_id|HetJobId|het.job_id|HET_JOB_ID")                              \
    X(BURST_BUFFER, "burst_buffer|BurstBuffer")                                          \
    X(CORE_SPEC, "core_spec|CoreSpec")                                                   \
    X(SWITCHES, "required_switches|ReqSwitch")                                           \
    X(FEDERATION, "federation_origin|FedOrigin")                                         \
    X(MEMORY, "real_memory|RealMemory|MEMORY|memory.minimum")                            \
    X(SOCKETS, "sockets|Sockets|SOCKETS|sockets.minimum")                                \
    X(CORES, "cores|CoresPerSocket|CORES|cores.minimum")                                 \
    X(THREADS, "threads|ThreadsPerCore|THREADS|threads.minimum")                         \
    X(GRES, "gres|Gres|GRES|gres.total")                                                 \
    X(PARTITIONS, "partitions|Partitions")                                               \
    X(WEIGHT, "weight|Weight|WEIGHT|weight.minimum")                                     \
    X(IS_DEFAULT, "Default")                                                             \
    X(TIME_MAX, "max_time_limit|MaxTime|maximums.time|TIMELIMIT")                        \
    X(TIME_DEFAULT, "default_time_limit|DefaultTime|defaults.time|DEFAULTTIME")          \
    X(TIER, "priority_tier|PriorityTier|priority.tier|PRIO_TIER")                        \
    X(FACTOR,                                                                            \
      "priority_job_factor|PriorityJobFactor|priority.job_factor|PRIO_JOB_FACTOR")       \
    X(NODES_MAX, "maximum_nodes_per_job|MaxNodes|maximums.nodes")                        \
    X(NODES_MIN, "min nodes per job|minimum_nodes_per_job|MinNodes|minimums.nodes")      \
    X(CPUS_PER_NODE_MAX, "maximum_cpus_per_node|MaxCPUsPerNode|maximums.cpus_per_node")  \
    X(DEFAULT_PER_CPU,                                                                   \
      "default_memory_per_cpu|DefMemPerCPU|defaults.partition_memory_per_cpu")           \
    X(DEFAULT_PER_NODE,                                                                  \
      "default_memory_per_node|DefMemPerNode|defaults.partition_memory_per_node")        \
    X(MAX_PER_CPU,                                                                       \
      "maximum_memory_per_cpu|MaxMemPerCPU|maximums.partition_memory_per_cpu")           \
    X(MAX_PER_NODE,                                                                      \
      "maximum_memory_per_node|MaxMemPerNode|maximums.partition_memory_per_node")        \
    X(ACCOUNTS_ALLOWED, "allowed_accounts|AllowAccounts|accounts.allowed")               \
    X(ACCOUNTS_DENIED, "denied_accounts|DenyAccounts|accounts.deny")                     \
    X(QOS_ALLOWED, "allowed_qos|AllowQos|qos.allowed")                                   \
    X(OVER_TIME,                                                                         \
      "over_time_limit|OverTimeLimit|timeouts.overtime|maximums.over_time_limit")        \
    X(DEFAULT_MEMORY, "defaults.memory_per_cpu")                                         \
    X(MAX_MEMORY, "maximums.memory_per_cpu")                                             \
    X(SHARES_MAX, "max_share|maximums.oversubscribe.jobs")                               \
    X(SHARES_FLAGS, "maximums.oversubscribe.flags")                                      \
    X(PREEMPT_MODE, "PreemptMode|preempt.mode")                                          \
    X(USERS, "users|Users")                                                              \
    X(ACCOUNTS, "accounts|Accounts")                                                     \
    X(CORE_COUNT, "core_count|CoreCnt")                                                  \
    X(TOTAL, "Total|total")                                                              \
    X(SHARES, "RawShares|Share|shares|shares_raw")                                       \
    X(USAGE, "RawUsage|usage")                                                           \
    X(PARENT, "parent|parent_account|ParentName")                                        \
    X(QOS_DEFAULT, "Def QOS|DefQOS|default.qos")                                         \
    X(PREEMPTS, "Preempt|preempt.list")                                                  \
    X(GRACE, "GraceTime|limits.grace_time")                                              \
    X(USAGE_FACTOR, "UsageFactor|usage_factor")                                          \
    X(GRP_JOBS, "GrpJobs|max.jobs.per.count|limits.max.active_jobs.count")               \
    X(GRP_SUBMIT, "GrpSubmit|max.jobs.per.submitted")                                    \
    X(GRP_TRES, "GrpTRES|max.tres.total|limits.max.tres.total")                          \
    X(GRP_TRES_MINS,                                                                     \
      "GrpTRESMins|max.tres.group.minutes|limits.max.tres.minutes.per.qos")              \
    X(GRP_RUN_MINS, "GrpTRESRunMins|GrpTRESRunMin|max.tres.group.active")                \
    X(MAX_JOBS, "MaxJobs|max.jobs.active")                                               \
    X(MAX_SUBMIT, "MaxSubmit|max.jobs.total")                                            \
    X(MAX_TRES, "MaxTRES|max.tres.per.job|limits.max.tres.per.job")                      \
    X(MAX_TRES_NODE, "MaxTRESPerNode|max.tres.per.node|limits.max.tres.per.node")        \
    X(MAX_WALL, "MaxWall|max.jobs.per.wall_clock|limits.max.wall_clock.per.job")         \
    X(MAX_TRES_USER, "MaxTRESPU|limits.max.tres.per.user")                               \
    X(MAX_JOBS_USER, "MaxJobsPU|limits.max.jobs.active_jobs.per.user")                   \
    X(MAX_SUBMIT_USER, "MaxSubmitPU|limits.max.jobs.per.user")                           \
    X(MAX_JOBS_ACCOUNT, "MaxJobsPA|limits.max.jobs.active_jobs.per.account")             \
    X(CLUSTER, "cluster|Cluster|association.cluster")                                    \
    X(EXIT_CODE, "ExitCode|exit_code.return_code")                                       \
    X(EXIT_SIGNAL, "exit_code.signal.signal_id|exit_code.signal.id")                     \
    X(RSS_MAX, "MaxRSS")                                                                 \
    X(MEMORY_ASKED, "ReqMem")                                                            \
    X(SUBMIT_LINE, "SubmitLine|submit_line")

enum slurm_field {
#define X(symbol, names) SLURM_F_##symbol,
    SLURM_FIELDS(X)
#undef X
        SLURM_FIELD_COUNT
};

/* What a running job has on some nodes, of each. */
struct slurm_held {
    const char *nodes; /* a list of hosts */
    double cpus;       /* NAN: not said */
    double cores;      /* likewise; from JSON before v0.0.40 */
    double memory_bytes;
    const char *gres; /* NULL: not said */
};

enum slurm_form { SLURM_JSON, SLURM_KEYS, SLURM_TABLE };

/* Of a configuration: in the order of the text. */
struct slurm_pair {
    const char *key, *value;
};

struct slurm_record {
    enum slurm_form form;
    size_t index;                         /* in its list, from 0 */
    const char *value[SLURM_FIELD_COUNT]; /* NULL: nothing */
    const struct slurm_held *held;
    size_t held_count;
    const struct slurm_pair *pairs; /* of SLURM_CONFIG: all of it */
    size_t pair_count;
};

struct slurm_list {
    struct slurm_record *records;
    size_t count, size;
    const char *pointer; /* of the part they came from; NULL: there was none */
};

/* What Slurm says of its documents, in errors[] or warnings[] of JSON. */
enum { SLURM_SAID_MAX = 3, SLURM_SAID_BYTES = 200 };
struct slurm_said {
    size_t count;
    const char *pointer; /* of the first's part */
    const char
        *texts[SLURM_SAID_MAX]; /* the first that differ, each cut to so many bytes */
    size_t text_count;
};

struct slurm_records {
    /* SLURM_SINFO_PARTITION: what rows of sinfo say of partitions, each of some nodes. */
    struct slurm_list of[SLURM_KIND_COUNT];
    double updated_s;    /* last_update, the newest; NAN: not said */
    const char *version; /* "v0.0.38"; NULL: not said */
    const char *cluster; /* NULL: not said */
    size_t odd_rows;     /* of tables: with more fields than columns */
    size_t cut_rows;     /* ... with fewer, left out */
    size_t cut_names;    /* of jobs, which a column was too narrow for */
    size_t empty_count;  /* of documents in which nothing is, and */
    const char *empty;   /* the first's pointer */
    bool broken_off;     /* the last row of a table is one of cut_rows, without its end */
    struct slurm_said warned; /* warnings[] of JSON; errors[] are an error */
};

/* Adds what a text holds; `out` begins as {.updated_s = NAN}. Errors, at `pointer`: text
 * that is no such document, JSON that breaks off, errors[] of slurmrestd, what a command
 * says when it fails. Texts of records are in `a`. O(length). */
enum error_code slurm_records_read(const char *text, size_t length, const char *pointer,
                                   struct slurm_records *out, struct arena *a,
                                   struct error *err);

/* The warning that says what Slurm warned of itself; NULL: of nothing. */
const char *slurm_warned_text(const struct slurm_said *warned, struct arena *a);

/* The value, or NULL when it says nothing (values.h). */
const char *slurm_value(const struct slurm_record *r, enum slurm_field field);

/* ---- shared by the readers ---- */

struct name_index;

/* What commands, shells and proxies print instead of a document: an error at `pointer`
 * with a hint what to do about it. `text` begins with the first line that is not empty.
 */
enum error_code slurm_document_check(const char *text, const char *pointer,
                                     struct error *err);

/* Names to fields. */
void slurm_fields_index(struct name_index *index, struct arena *a);

struct slurm_reader {
    struct slurm_records *out;
    const char *pointer;
    struct name_index *fields; /* names to fields */
    struct arena *arena;
    struct error *err;
};

struct slurm_record *slurm_record_add(struct slurm_reader *r, enum slurm_kind kind,
                                      enum slurm_form form);

/* Makes room for `count` more records, which are many: a list that doubles would have
 * been there several times. */
void slurm_record_reserve(struct slurm_reader *r, enum slurm_kind kind, size_t count);

/* Sets the field of that name, if there is one and nothing is there yet: of a copy, or of
 * a text that stays. */
void slurm_record_keep(struct slurm_reader *r, struct slurm_record *record,
                       const char *name, const char *value);
void slurm_record_set(struct slurm_reader *r, struct slurm_record *record,
                      const char *name, const char *value);

enum error_code slurm_json_read(struct slurm_reader *r, const char *text, size_t length);
enum error_code slurm_text_read(struct slurm_reader *r, const char *text, size_t length);
enum error_code slurm_table_read(struct slurm_reader *r, const char *text, size_t length);

#endif
