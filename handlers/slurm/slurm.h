/* slurm.h - what the files of this room know of each other. */
#ifndef GRIDPLAN_HANDLERS_SLURM_H
#define GRIDPLAN_HANDLERS_SLURM_H

#include "service/route.h"

handler_fn post_slurm_import, post_slurm_export, post_slurm_history;

extern const struct json_object slurm_import_request_json, slurm_import_answer_json;
extern const struct json_object slurm_accounting_query_json, slurm_accounting_answer_json;
extern const struct json_object slurm_export_request_json, slurm_export_answer_json;

#endif
