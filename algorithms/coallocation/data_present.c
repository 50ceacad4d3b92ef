/* coallocation/data_present.c - only sites that have the file.
 *
 * Jobs go to their data: the first site (by name) with the file and enough processors.
 * A component without a file goes where worst_fit puts it. Fit to be compared with, along
 * with copying popular files (advice.h). O(R) for a component.
 *
 * Source: Ranganathan and Foster in 001_546dfcc428821807 2.4 [L489]; spec coallocation.md
 * 15.
 */
#include "algorithms/coallocation/parts.h"

const struct param coallocation_data_present_params[] = {{0}};

bool coallocation_data_present(struct co_state *s, const struct co_component *component,
                               const double *param, struct co_choice *out)
{
    const struct co_grid_file *file;

    (void)param;
    if (component->file == CO_NONE)
        return co_choose_fullest(s, NULL, out);
    file = &s->grid->files[component->file];
    for (size_t i = 0; i < file->site_count; i++)
        if (s->candidate[file->sites[i]]) {
            *out = (struct co_choice){file->sites[i], file->sites[i], 0};
            return true;
        }
    return false;
}
