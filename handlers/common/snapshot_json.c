/* snapshot_json.c - how snapshots, resources, links and files look in JSON. */
#include "handlers/common/snapshot_json.h"

#include "handlers/common/world_json.h"

static const char *const sharings[] = {"slots", "equal", NULL};

#define T struct interruption_notice
static const struct json_field notice_rows[] = {
    JSON_NUMBER(T, interruptions_per_hour, 0, 3.6e6, NAN, JSON_REQUIRED,
                "How often one node is taken back"),
    JSON_NUMBER(T, notice_s, 0, 1e15, 0, 0,
                "How long before it is told; with Slurm GraceTime, on Kubernetes the "
                "grace period; default 0"),
    JSON_NUMBER(T, proactive_overhead_s, 0, 1e15, NAN, JSON_NULLABLE,
                "Overhead of a checkpoint on notice; default: as any other"),
    {0},
};
#undef T
const struct json_object interruption_notice_json = {
    "InterruptionNotice", "How machines are taken back",
    sizeof(struct interruption_notice), notice_rows};

#define T struct resource
static const struct json_field resource_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the snapshot"),
    JSON_ID(T, site_id, JSON_NULLABLE,
            "Site or cluster it belongs to; default: a site of its own"),
    JSON_NUMBER(T, mips_total, 0, JSON_LARGEST, 1, 0,
                "Speed of one slot without outside load; run time = estimate_ref_s / "
                "speed; default 1"),
    JSON_NUMBER(T, mips_external, 0, JSON_LARGEST, 0, 0,
                "Speed that outside load takes; default 0"),
    JSON_NUMBER(T, cpu_available_ratio, 0, 1, 1, 0,
                "Share of mips_total that is available; default 1"),
    JSON_NUMBER(
        T, cpus, 0, 1e9, NAN, JSON_NULLABLE,
        "CPUs for jobs; jobs that run together never need more; default: not limited"),
    JSON_NUMBER(
        T, memory_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
        "Memory for jobs; jobs that run together never need more; default: not limited"),
    JSON_NUMBER(T, disk_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Disk for jobs; jobs that run together never need more; default: not "
                "limited"),
    JSON_AMOUNTS(T, capacities, capacity_count, 0,
                 "What else it has for jobs (gpus ...), by name; of a name that is not "
                 "here it has none"),
    JSON_NUMBER(T, n_max, 0, 1e6, NAN, JSON_NULLABLE,
                "Slots: jobs at the same time; default: with cpus or capacities what the "
                "amounts allow, else 1"),
    JSON_NUMBER(T, job_count, 0, 1e6, 0, 0, "Slots in use now; default 0"),
    JSON_NUMBERS(T, free_at_s, free_at_count, 0, JSON_LARGEST, JSON_NULLABLE,
                 "When each used slot is free, seconds from now; null: not known, never"),
    JSON_NUMBER(T, ready_s, 0, JSON_LARGEST, 0, 0,
                "Seconds from now before which no slot is free; default 0"),
    JSON_CHOICE(T, sharing, sharings, 0, 0,
                "slots: each slot has the whole speed; equal: the slots share it"),
    JSON_BOOLEAN(T, failed, 0, 0, "It is down: gets no jobs"),
    JSON_ID(T, boot_id, JSON_NULLABLE,
            "Changes with every start of the host: replicas of another boot are gone"),
    JSON_INSTANT(T, observed_at, JSON_NULLABLE,
                 "When its state was observed; default: fresh"),
    JSON_TEXTS(
        T, allowed, allowed_count, 10000, 0,
        "Who may use it, \"user:NAME\" or \"vo:NAME\"; []: nobody; default: everybody"),
    JSON_NUMBER(T, fixed_priority, 0, 99, 1, 0,
                "Priority given by the operator; 0: not used"),
    JSON_VALUES(T, attributes, attribute_count, 0,
                "Free-form attributes for requirement and rank expressions"),
    JSON_LIST(T, running, running_count, struct taken_running, &running_json, RUNNING_MAX,
              0, "Jobs that run on it"),
    JSON_LIST(T, reservations, reservation_count, struct taken_reservation,
              &reservation_json, RESERVATIONS_MAX, 0,
              "When parts of it, or all, are not free"),
    JSON_NUMBER(T, price_per_s, 0, 1e15, 0, 0,
                "Price of a second with at least one planned job; default 0"),
    JSON_NUMBER(T, price_per_cpu_s, 0, 1e15, 0, 0,
                "Price of a CPU of a planned job for a second; default 0"),
    JSON_NUMBER(T, power_node_w, 0, 1e15, 0, 0,
                "Power while at least one planned job is on it, in W; default 0"),
    JSON_NUMBER(T, power_per_cpu_w, 0, 1e15, 0, 0,
                "Power of a CPU of a planned job, in W; default 0"),
    JSON_NUMBER(T, observed_since_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Since when its failures were seen, on the scale of now_s"),
    JSON_NUMBER(T, last_failure_at_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "When it last failed, on the scale of now_s; null: not seen to fail"),
    JSON_NUMBER(
        T, up_since_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
        "When it was last restored, on the scale of now_s; default: last failure"),
    JSON_NUMBER(T, failure_count, 0, JSON_EXACT, NAN, JSON_NULLABLE,
                "Failures seen, a whole number; without this, last_failure_at_s and "
                "failure_times_s the stored history is read"),
    JSON_NUMBER(T, uptime_total_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Time that it was up while it was observed"),
    JSON_NUMBERS(T, failure_times_s, failure_time_count, -JSON_LARGEST, JSON_LARGEST,
                 JSON_NULLABLE, "When it failed, on the scale of now_s, in any order"),
    JSON_OBJECT(T, notice, const struct interruption_notice *, &interruption_notice_json,
                JSON_POINTER | JSON_NULLABLE,
                "How often it is taken back, and how long before it is told; default: it "
                "is not"),
    JSON_ID(T, resource_class, JSON_NULLABLE,
            "Type of machine, as executions say it: models of run times know it by this"),
    JSON_AMOUNTS(
        T, benchmarks, benchmark_count, 0,
        "Seconds that it takes for benchmarks, by name; a smaller one is faster. "
        "They tell what a type takes of which no run was learnt; 0: not "
        "measured"),
    {0},
};
#undef T
const struct json_object resource_json = {"Resource", "A host that runs jobs",
                                          sizeof(struct resource), resource_rows};

#define T struct network_route
static const struct json_field route_rows[] = {
    JSON_ID(T, from_site_id, JSON_REQUIRED, "One site"),
    JSON_ID(T, to_site_id, JSON_REQUIRED,
            "The other; good for both directions unless both are listed"),
    JSON_NUMBER(T, bandwidth_mbps, 0, JSON_LARGEST, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Bandwidth in 10^6 bits per second"),
    JSON_NUMBER(T, latency_s, 0, 1e9, 0, 0,
                "Latency of a transfer in seconds; default 0"),
    {0},
};
#undef T
const struct json_object network_route_json = {"NetworkRoute", "A link between two sites",
                                               sizeof(struct network_route), route_rows};

#define T struct network
static const struct json_field network_rows[] = {
    JSON_LIST(T, routes, route_count, struct network_route, &network_route_json, 1000000,
              0, "Links between sites"),
    JSON_NUMBER(T, wan_mbps, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN | JSON_OPTIONAL,
                "Bandwidth between sites without a route; default: unreachable"),
    JSON_NUMBER(T, wan_latency_s, 0, 1e9, 0, 0,
                "Latency between sites without a route; default 0"),
    JSON_NUMBER(T, lan_mbps, 0, JSON_LARGEST, NAN,
                JSON_NULLABLE | JSON_ABOVE_MIN | JSON_OPTIONAL,
                "Bandwidth inside a site; default: no time"),
    JSON_NUMBER(T, lan_latency_s, 0, 1e9, 0, 0, "Latency inside a site; default 0"),
    {0},
};
#undef T
const struct json_object network_json = {"Network", "Links between sites",
                                         sizeof(struct network), network_rows};

#define T struct file
static const struct json_field file_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED,
            "Name, unique in the snapshot; may hold ${GW_ARCH} and ${GW_TASK_ID}"),
    JSON_NUMBER(T, bytes, 0, JSON_LARGEST, 0, 0, "Size; default 0"),
    JSON_BOOLEAN(T, shared, 0, 0,
                 "Once staged it serves later jobs of that site; default: each job pays"),
    JSON_TEXTS(T, site_ids, site_count, 10000, JSON_REQUIRED,
               "Sites with a copy, at least one"),
    {0},
};
#undef T
const struct json_object file_json = {"File", "An input file and where its copies are",
                                      sizeof(struct file), file_rows};

#define NAME_OF_SNAPSHOT                                                           \
    "a stored one is named by 'snapshot_id' in a decision; to store it, its name " \
    "stands in the path, PUT /v1/snapshots/NAME, or in the query, ?id=NAME"
#define T struct snapshot
static const struct json_field snapshot_rows[] = {
    JSON_INSTANT(T, taken_at, JSON_NULLABLE, "The instant that counts as now"),
    JSON_INSTANT(T, list_observed_at, JSON_NULLABLE,
                 "When the list of resources was made; default taken_at"),
    JSON_ID(T, home_site_id, JSON_NULLABLE, "Site where outputs go; default: nowhere"),
    JSON_OBJECT(T, network, struct network, &network_json, 0, "Links between sites"),
    JSON_LIST(T, files, file_count, struct file, &file_json, SNAPSHOT_FILES_MAX,
              JSON_UNIQUE_IDS, "Input files of the jobs"),
    JSON_LIST(T, resources, resource_count, struct resource, &resource_json,
              SNAPSHOT_RESOURCES_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,
              "Hosts; their order breaks ties"),
    JSON_AMOUNTS(T, shared_capacities, shared_capacity_count, 0,
                 "What jobs share that is on no resource (licences ...), by name"),
    JSON_LIST(T, running, running_count, struct taken_running, &snapshot_running_json,
              RUNNING_MAX, 0,
              "Jobs that run, for callers who have one row for each: as in resources"),
    JSON_LIST(T, reservations, reservation_count, struct taken_reservation,
              &snapshot_reservation_json, RESERVATIONS_MAX, 0,
              "Reservations, of several resources or of shared amounts"),
    JSON_LIST(T, partitions, partition_count, struct partition, &partition_json,
              PARTITIONS_MAX, JSON_UNIQUE_IDS,
              "Resources that jobs may use under common rules"),
    JSON_RAW(T, cluster, JSON_NULLABLE | JSON_OPTIONAL,
             "The same as POST /v1/queue-orders takes it inline, with QOS, accounts and "
             "settings; times are seconds from now. Queues decide on it, nothing else "
             "looks at it"),
    JSON_END_NOTES({"id", NAME_OF_SNAPSHOT}, {"name", NAME_OF_SNAPSHOT}),
};
#undef T
const struct json_object snapshot_json = {"Snapshot", "What the caller sees of the grid",
                                          sizeof(struct snapshot), snapshot_rows};

/* Each patch has a "now" of its own, so that seconds from it mean nothing later. */
static const struct json_instead running_instead[] = {
    {"expected_end_s", "expected_end_at"},
    {"elapsed_s", "started_at"},
    {0},
};
static const struct json_instead reservation_instead[] = {
    {"start_s", "start_at"},
    {"end_s", "end_at"},
    {0},
};

#define TAKEN_LISTS                                                     \
    {"running_by_id", "running", NULL, running_instead},                \
    {                                                                   \
        "reservations_by_id", "reservations", NULL, reservation_instead \
    }

static const struct json_keyed_list resource_lists[] = {
    TAKEN_LISTS,
    {0},
};

const struct json_keyed_list snapshot_lists[] = {
    {"resources_by_id", "resources", resource_lists, NULL},
    TAKEN_LISTS,
    {"partitions_by_id", "partitions", NULL, NULL},
    {0},
};
