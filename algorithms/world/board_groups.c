/* world/board_groups.c - what the rules of groups count. */
#include "algorithms/world/board_parts.h"

void board_groups_create(struct board *b)
{
    b->groups = NULL;
}

void board_groups_reset(struct board *b)
{
    (void)b;
}

bool board_group_allows(const struct board *b, size_t job, size_t position)
{
    (void)b;
    (void)job;
    (void)position;
    return true;
}

struct profile *board_group_profile(struct board *b, size_t job, size_t position)
{
    (void)b;
    (void)job;
    (void)position;
    return NULL;
}

void board_group_placed(struct board *b, size_t job, bool taken)
{
    (void)b;
    (void)job;
    (void)taken;
}

struct board_spot board_best_nodes(struct board *b, size_t job, size_t choice)
{
    (void)b;
    (void)job;
    (void)choice;
    return board_nowhere();
}

size_t board_unit_of(const struct board *b, size_t job)
{
    (void)b;
    return job;
}

bool board_place_unit(struct board *b, size_t first_member)
{
    (void)b;
    (void)first_member;
    return false;
}
