/* base/warning_codes.h - what an answer may warn of: the words before the colon.
 *
 * Sorted by name. A warning is a sentence for people behind its code: "code: sentence".
 */
#ifndef GRIDPLAN_BASE_WARNING_CODES_H
#define GRIDPLAN_BASE_WARNING_CODES_H

/* name, meaning */
#define WARNING_CODES(X)                                                               \
    X(account_ignored, "Jobs are of an account that the cluster does not have")        \
    X(application_unknown, "Nothing could be learnt: the database is away")            \
    X(at_floor, "The interval is the least that the algorithm gives")                  \
    X(auto_models_full, "Applications get no models by themselves any more")           \
    X(bandwidth_raised, "Links below 0.01 Mbit/s count as 0.01")                       \
    X(bound_skipped,                                                                   \
      "The time limit came before all bounds were computed; those given hold")         \
    X(cancelled, "Jobs that were cancelled before they started")                       \
    X(capacity_too_small, "Peaks of memory above the capacity were seen")              \
    X(catalogue_unavailable, "The stored file catalogue cannot be read now")           \
    X(check_differs, "Trials of an answer do not agree with its figures")              \
    X(clamped, "A value was brought within what is possible")                          \
    X(classes_not_asked, "More classes than models are looked for")                    \
    X(clock_ahead, "Events happen later than now")                                     \
    X(confidence_missed, "More runs are needed for what was asked for")                \
    X(copies, "Fewer copies of a job than were asked for")                             \
    X(cpu_raised, "Resources with less than 0.01 of their CPU count as 0.01")          \
    X(cut_to_midpoint, "The time limit came before a dynamic programme was done")      \
    X(cut_to_round_robin,                                                              \
      "The time limit ended the search; the rest was given out in turn")               \
    X(cycle, "Edges that close a cycle are cut")                                       \
    X(dax, "How a workflow in this form was mended when it was read")                  \
    X(deadlines_not_in_objective,                                                      \
      "Jobs have deadlines that are no part of the objective")                         \
    X(definition_not_replayed, "A replay has a later definition of the session")       \
    X(dot, "How a workflow in this form was mended when it was read")                  \
    X(earlier_release,                                                                 \
      "The decision is of an earlier release; answers are not compared")               \
    X(expected_skipped, "Expected times that only trials give were left out")          \
    X(explained, "The reasons of some jobs were not looked for: the time was up")      \
    X(failed_host,                                                                     \
      "Jobs run on a resource that has failed, without the event that says so")        \
    X(failure_trace, "How a failure trace was laid on the resources")                  \
    X(failures, "Where the failures of resources were taken from")                     \
    X(failures_cut, "There are more failures than one answer looks at")                \
    X(far_extrapolation, "The question lies far outside what the model has seen")      \
    X(few_failures, "Too few failures to say much")                                    \
    X(few_intervals, "Too few intervals to say much")                                  \
    X(few_levels, "Which levels survive failures is known by few failures")            \
    X(few_runs, "The model has seen few runs")                                         \
    X(few_samples, "Too few samples; the given value is used")                         \
    X(floored, "The formula gives no time above 0; the least time seen is the answer") \
    X(frontier_thinned, "More plans are on the frontier than are listed")              \
    X(gang_held_back, "Gangs wait, as not all of their members can start")             \
    X(guessed, "A missing value was guessed")                                          \
    X(history_corrected,                                                               \
      "What a model had learnt was corrected or removed; it is being trained anew")    \
    X(history_cut, "Only the newest part of a history was looked at")                  \
    X(history_ended, "Nothing was heard of resources for long")                        \
    X(history_missing, "Nothing is known of resources")                                \
    X(history_too_short, "The history is too short")                                   \
    X(history_unavailable, "The stored history cannot be read now")                    \
    X(hopeless, "Jobs that will hardly end between two failures")                      \
    X(idempotency_local,                                                               \
      "The answer is not kept under its Idempotency-Key, as there is no database")     \
    X(ignored, "Members of the request have no part in the answer")                    \
    X(inconsistent_site, "The numbers of a site contradict each other")                \
    X(initial_refused, "The plan to begin with is none, and was not used")             \
    X(input_far, "An input is more than twice outside what was seen")                  \
    X(input_never_varied, "An input differs that was the same in all runs")            \
    X(inputs_missing, "Inputs that a model has learnt from are not given")             \
    X(inputs_unused, "Inputs that the model does not use")                             \
    X(interval_very_short, "The interval is hardly longer than a checkpoint takes")    \
    X(job_count, "A resource has fewer used slots than jobs")                          \
    X(killed, "Jobs run longer than their time limit, and are ended by it")            \
    X(last_interval_too_short, "The last interval of the plan is too short")           \
    X(lease_empty, "No job starts now, so nothing is leased")                          \
    X(leases, "What others have leased of the snapshot is not free")                   \
    X(leases_not_replayed, "A replay knows no grants and leases of that instant")      \
    X(levels_exceeded, "Failures ask for a level above the last")                      \
    X(limits_unused, "A queue policy knows no limits of accounts")                     \
    X(load_filled, "Records took their load from stored load samples")                 \
    X(malformed, "Parts that cannot be read are left out")                             \
    X(max_events, "The events did not suffice for all runs")                           \
    X(mean_floor_applied, "The mean is the least that so few failures can say")        \
    X(mean_unknown, "Nothing is known of failures, so some figures are left out")      \
    X(memory_ignored, "Memory that jobs ask for is not looked at")                     \
    X(memory_not_known, "No memory could be sized from peaks")                         \
    X(min_interval_raised, "Intervals were raised to the least permitted")             \
    X(model_approximated, "The times of a model are followed by a formula")            \
    X(model_invalid, "The model gives no positive finite time for some sets")          \
    X(model_missing, "A site has no usable model, and is left out")                    \
    X(model_no_answer, "Models that have no run time for jobs")                        \
    X(model_not_used, "A run time in the request comes before the model")              \
    X(model_unusable, "The model has no usable terms for this problem size")           \
    X(models_not_replayed, "A replay has the models of now")                           \
    X(nearest_miss_omitted, "Reasons of jobs without a place are left out")            \
    X(never_fits, "Jobs that fit nowhere")                                             \
    X(no_accounts, "The cluster has no accounts")                                      \
    X(no_history, "Nothing is stored of what was asked for")                           \
    X(no_load_history, "No load samples are stored of these resources")                \
    X(no_network, "There is no network: moving data takes no time")                    \
    X(no_rows, "There are no rows in a document")                                      \
    X(no_run_time, "Rows without a run time are left out")                             \
    X(no_runs, "No run is known: similar applications tell the time")                  \
    X(no_samples, "Resources or links without samples are left out")                   \
    X(no_time_limit, "Jobs and their partitions have no time limit; a year is taken")  \
    X(no_user, "Limits of what a user may have do not count jobs without one")         \
    X(not_learnt, "Records from which no model learns")                                \
    X(not_repeatable,                                                                  \
      "The time limit ended the search; another run may decide otherwise")             \
    X(notice_too_short, "Interruptions are told of too late for a checkpoint")         \
    X(notice_unused, "Notices of interruptions have no part in this decision")         \
    X(objective_unused, "Jobs are not planned by the objective")                       \
    X(observation_start_unknown, "Nobody said since when resources are watched")       \
    X(offers_left_out, "Resources with a price on which a job is not priced")          \
    X(option_unused, "The algorithm has no use for an option")                         \
    X(outliers_left_out, "Runs far from the others were left out")                     \
    X(outside_observation, "Failures outside every observation")                       \
    X(overcommitted, "Reservations take processors that running jobs hold")            \
    X(overdue, "Running jobs should have ended by now")                                \
    X(partition_ignored, "Partitions that jobs ask for are not looked at")             \
    X(partitions_late, "The partitions of this month were made after the start")       \
    X(peers_cut, "There are more stored hosts than were looked at")                    \
    X(pegasus, "How a workflow in this form was mended when it was read")              \
    X(period_capped, "The periods of jobs differ too much")                            \
    X(perturbation_ignored, "An algorithm that proves its answer does not perturb it") \
    X(pinned, "Jobs without a resource wait for ever")                                 \
    X(policy_ignores_objective, "The policy plans for something else first")           \
    X(preceding_ignored, "Jobs that should precede others are not looked at")          \
    X(predictor_unused, "Failures are foretold too late for a checkpoint")             \
    X(preempted, "The plan assumes that running jobs are stopped")                     \
    X(preempted_for_others, "Others are stopped for jobs that do not start now")       \
    X(priorities_not_in_objective,                                                     \
      "Jobs have priorities that are no part of the objective")                        \
    X(processors_ignored, "The times of the model do not depend on the machines")      \
    X(progress_not_looked_up, "Stored progress of some tasks was not looked up")       \
    X(promise_broken, "Jobs do not start when they were promised to")                  \
    X(qos_ignored, "Jobs are of a quality of service that does not count")             \
    X(quantile_not_known, "Too few errors for the quantile; the best guess is taken")  \
    X(queue_wait_unknown, "A site has no history of its queue; its wait counts as 0")  \
    X(random_resource, "Tasks without a run time start on a random resource")          \
    X(renamed, "A member or parameter of the request has another name now")            \
    X(requested_raised, "Requested times were raised to the run times")                \
    X(reserved, "Running jobs end after a reservation of their nodes has begun")       \
    X(resource_down, "Resources are down, as their history says")                      \
    X(resource_unusable, "Resources without available CPU are left out")               \
    X(resources_cut, "Only the first resources were looked at")                        \
    X(restarted, "Tasks of failed resources are planned anew, from their checkpoints") \
    X(rounded, "Numbers were rounded")                                                 \
    X(rounded_values, "Cells with a unit are rounded")                                 \
    X(run_time_defaulted, "Run times were missing and taken from the request")         \
    X(run_time_from_limit, "Jobs without an estimate run to their time limit")         \
    X(run_times_guessed, "Tasks without a run time got the median of others")          \
    X(running_incomplete, "A running job is on other resources than its rows say")     \
    X(samples_unusable, "Runs that lack what the kind of model needs")                 \
    X(search_cut, "The time limit ended a search or trials")                           \
    X(several_ends, "A workflow has several first or last tasks")                      \
    X(shared_site, "Replicas of a job start on the same site")                         \
    X(short_rows, "Rows have fewer cells than there are columns")                      \
    X(shorter_than_threshold, "What is left takes less than the least interval")       \
    X(single_schedule_better, "Staying on one schedule takes less time")               \
    X(site_left_out, "A site is left out of the plan")                                 \
    X(skipped, "Lines that are no usable jobs")                                        \
    X(slots, "What was taken for granted of resources with several slots")             \
    X(slow, "The last write to the database took long")                                \
    X(slurm_lead_too_long, "The lead of the signal is longer than the interval")       \
    X(slurm_time_unknown, "No trials say the time that Slurm is to be asked for")      \
    X(slurm_warned, "Slurm itself warns of something in its documents")                \
    X(snakemake_d3, "How a workflow in this form was mended when it was read")         \
    X(snapshot_not_replayed, "A replay has the snapshot of now")                       \
    X(spares_exceed, "Jobs have more spare nodes than there are other resources")      \
    X(stage_in_not_checked,                                                            \
      "How long input files take was taken from the plan that was given")              \
    X(stagger_unused, "Policies that do not go by failures keep to their intervals")   \
    X(stale, "Resources were observed long ago")                                       \
    X(stale_list, "The list of resources is old")                                      \
    X(stale_site, "Sites were measured long ago")                                      \
    X(standby_off, "No standby confirms what the primary stores")                      \
    X(stg, "How a workflow in this form was mended when it was read")                  \
    X(stop_unreachable, "A run ended before as many jobs were through as asked for")   \
    X(submitted_later, "Jobs are submitted after now_s")                               \
    X(time_limit, "The time was up")                                                   \
    X(too_long, "Jobs that no run can end")                                            \
    X(truncated, "A list of the answer is shortened")                                  \
    X(unknown_account, "Accounts are named that nothing describes")                    \
    X(unknown_amount, "Jobs need an amount that nothing has")                          \
    X(unknown_attribute, "No resource has an attribute that an expression names")      \
    X(unknown_dependency,                                                              \
      "Jobs that others wait for are not known, and taken to be gone")                 \
    X(unknown_end, "Running jobs do not say when they end")                            \
    X(unknown_node, "Nodes are named that nothing describes")                          \
    X(unknown_partition, "Partitions are named that nothing describes")                \
    X(unknown_qos, "A quality of service is named that nothing describes")             \
    X(unknown_reservation, "Reservations are named that nothing describes")            \
    X(unknown_resource, "Resources are named that the snapshot has not")               \
    X(unknown_task, "Jobs are no task of the session")                                 \
    X(unknown_variable, "A variable in a file name stays as it is")                    \
    X(unknown_vertex, "Edges end where no vertex is")                                  \
    X(unlimited, "Jobs take nothing of what their resource limits")                    \
    X(unplaced, "How many jobs have no place, and why")                                \
    X(unplaced_repeats, "Jobs without a place repeat the same reasons")                \
    X(unsorted, "Lines were sorted by arrival")                                        \
    X(verify_skipped, "There is no figure that trials could be compared with")         \
    X(weight_order, "The weights are in an unusual order")                             \
    X(wfformat, "How a workflow in this form was mended when it was read")             \
    X(what_if_cut, "The time was up before all changes were compared")                 \
    X(wide_interval, "The confidence interval is wide")                                \
    X(width_ignored, "Jobs of several processors run on one slot")                     \
    X(without_effect, "Settings that say what this decision does not see")             \
    X(workload_truncated, "The generator makes more jobs than are played")

#endif
