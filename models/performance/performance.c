/* performance/performance.c - the names of what predictions and sets say. */
#include "models/performance/performance.h"

#include "models/performance/porting.h"

#define NAME(symbol, name, ...) #name,
#define TEXT(symbol, name, doc) doc,

const char *const perf_status_names[] = {PERF_STATUSES(NAME) NULL};
const char *const perf_status_texts[] = {PERF_STATUSES(TEXT) NULL};
const char *const perf_profile_names[] = {"thesis", "robust", NULL};
const char *const perf_state_names[] = {PERF_STATES(NAME) NULL};
const char *const perf_method_names[] = {PERF_METHODS(NAME) NULL};
const char *const perf_warning_names[] = {PERF_WARNINGS(NAME) NULL};
const char *const perf_warning_texts[] = {PERF_WARNINGS(TEXT) NULL};
const char *const perf_porting_names[] = {PERF_PORTINGS(NAME) NULL};
