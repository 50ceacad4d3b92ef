/* records.h - the stored records; each is a file of its name. */
#ifndef GRIDPLAN_RECORDS_H
#define GRIDPLAN_RECORDS_H

#include "service/records/record.h"

extern const struct record checkpoint_log_record;   /* struct checkpoint_log */
extern const struct record claim_attempt_record;    /* struct claim_attempt */
extern const struct record execution_record;        /* struct execution */
extern const struct record failure_record;          /* struct failure */
extern const struct record load_sample_record;      /* struct load_sample */
extern const struct record observation_record;      /* struct observation */
extern const struct record progress_sample_record;  /* struct store_progress_sample */
extern const struct record reschedule_event_record; /* struct reschedule_event */
extern const struct record site_error_record;       /* struct store_site_error */
extern const struct record transfer_record;         /* struct store_transfer */

/* Of what is stored of a run, also as a part of what is sent. */
record_check_fn execution_check;

/* For lists of them in other objects. */
extern const struct json_object execution_json;
extern const struct json_object load_sample_json;

#endif
