-- The hosts of a site are also those whose failures name it: found from one to the next,
-- without looking at each of their failures.

CREATE INDEX failure_site ON failure (tenant, site_id, resource_id)
    WHERE site_id IS NOT NULL;
