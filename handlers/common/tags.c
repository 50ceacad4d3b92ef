/* tags.c - names and sentences of the rooms of the API. */
#include "handlers/common/tags.h"

const struct route_tag api_tags[API_TAGS] = {
    {"Placement", "Which resource each independent job should run on, the snapshots of "
                  "resources that decisions read, and when to move a running job."},
    {"Workflows", "Where and when tasks run that need each other's outputs."},
    {"Queues", "Which waiting job a cluster's queue starts next, with backfill."},
    {"Co-allocation", "Parallel jobs over several sites: places, transfers, claims, "
                      "reservations, launches, and what became of them."},
    {"Parallel applications", "Which machines a tightly coupled application should get, "
                              "and when it pays to move it."},
    {"Fault tolerance", "How often to checkpoint, how many copies to run, and what the "
                        "failures of resources say."},
    {"Models", "How long applications run: models that learn from executions, their "
               "predictions and errors, and which experiments to make."},
    {"Load", "Observed loads of resources and links, and their forecasts."},
    {"Simulation", "What would happen: simulated grids, queues and applications, with "
                   "the job logs and failure logs that they read."},
    {"Decisions", "What was decided: stored decisions, decided again, and what a "
                  "schedule is worth."},
    {"Operations", "The service itself: health, metrics, this description, its "
                   "algorithms, and what a caller may still take."},
};
