/* policy_words.c - names of policies, as answers have them. */
#include "handlers/operations/policy_words.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/cluster_queue/settings.h"
#include "algorithms/coallocation/claim.h"
#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/scan.h"
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/migration/migration.h"
#include "algorithms/parallel/parallel.h"
#include "algorithms/placement/placement.h"
#include "algorithms/plan/plan.h"
#include "algorithms/queue/queue.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/placement_round.h"
#include "algorithms/simulation/vm.h"
#include "algorithms/workflow/round.h"

#define TABLES(...)                \
    (const struct policy *const[]) \
    {                              \
        __VA_ARGS__, NULL          \
    }

const struct json_words checkpoint_words = {"CheckpointPolicy", "A checkpoint policy",
                                            TABLES(checkpoint_policies), NULL};
const struct json_words claim_words = {"ClaimPolicy", "A policy of claiming",
                                       TABLES(co_claim_policies), NULL};
const struct json_words coallocation_words = {
    "CoallocationPolicy", "A co-allocation policy; auto: each job's own",
    TABLES(coallocation_policies), JSON_NAMES("auto")};
const struct json_words fault_tolerance_words = {
    "FaultTolerancePolicy", "A policy of fault tolerance or replication",
    TABLES(fault_tolerance_policies, replication_policies), NULL};
const struct json_words parallel_words = {"ParallelPolicy", "A policy for machine sets",
                                          TABLES(parallel_policies), NULL};
const struct json_words placement_words = {
    "PlacementPolicy",
    "A placement policy; mct longest: mct over the jobs by falling run time",
    TABLES(placement_policies),
    JSON_NAMES("mct balanced", "mct deadline", "mct longest", "mct smith", "mct volume")};
const struct json_words plan_words = {"PlanPolicy",
                                      "A planner; initial: the plan that was given",
                                      TABLES(plan_policies), JSON_NAMES("initial")};
const struct json_words queue_words = {"QueuePolicy", "A queue policy",
                                       TABLES(queue_policies, cluster_policies), NULL};
const struct json_words scan_words = {"ScanPolicy", "A policy of scanning queues",
                                      TABLES(co_scan_policies), NULL};
const struct json_words workflow_words = {"WorkflowPolicy", "A policy for workflows",
                                          TABLES(workflow_policies), NULL};
const struct json_words workflow_round_words = {"WorkflowRoundPolicy",
                                                "A policy for rounds of workflows",
                                                TABLES(workflow_round_policies), NULL};

/* As simulation_policies.c looks them up. */
const struct json_words simulated_words = {
    "SimulatedPolicy", "A policy that a simulation of kind grid plays; pinned: none",
    TABLES(dispatch_policies, replication_policies, fault_tolerance_policies,
           checkpoint_policies, placement_round_policies, vm_policies),
    JSON_NAMES("pinned")};

/* The others are the words of DECISION_BY and DECISION_BY_ONE; a test compares. */
const struct json_words decision_words = {
    "DecisionPolicy",
    "Who decided, at any endpoint: a policy, or the word of its answers",
    TABLES(checkpoint_policies, co_claim_policies, coallocation_policies,
           fault_tolerance_policies, migration_policies, parallel_policies,
           placement_policies, plan_policies, queue_policies, cluster_policies,
           replication_policies, co_scan_policies, workflow_policies,
           workflow_round_policies),
    JSON_NAMES("mct balanced", "mct deadline", "mct longest", "mct smith", "mct volume",
               "initial", "auto", "aonp", "odp2", "co_allocate_or_not", "job_flow",
               "launch_plan", "popular_files", "common_slot", "fuzzy_slot",
               "transfer_estimates", "coallocation", "placement", "workflow",
               "experiment_plan", "comprehensive", "preliminary", "linear", "scale_out",
               "normal_form", "power_law", "load", "varpro", "simplex", "multi_phase",
               "component_error", "runner_liveness", "ladder", "quantile", "simulation")};
