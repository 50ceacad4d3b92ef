/* store_quota.h - quotas of tenants, and what is left of shared buckets. */
#ifndef GRIDPLAN_STORE_QUOTA_H
#define GRIDPLAN_STORE_QUOTA_H

#include "service/db.h"
#include "service/quota.h"

/* A tenant without any: quota_none(). */
enum error_code store_quota_find(struct db_session *s, const char *tenant,
                                 struct quota *out, struct arena *a, struct error *err);

/* Replaces all quotas of the tenant. */
enum error_code store_quota_set(struct db_session *s, const char *tenant,
                                const struct quota *quota, struct error *err);

/* Takes used_s off the bucket of (tenant, key_id; "": the tenant's own), which begins
 * full with cap_s and gets rate_per_s; *level_s is what is left. Not repeatable: an error
 * leaves open whether it was taken. */
enum error_code store_quota_spend(struct db_session *s, const char *tenant,
                                  const char *key_id, double cap_s, double rate_per_s,
                                  double used_s, double *level_s, struct arena *a,
                                  struct error *err);

#endif
