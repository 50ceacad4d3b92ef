/* main.c - the program: the only file that sees every layer. */
#include "handlers/docs/docs.h"
#include "handlers/operations/routes.h"
#include "handlers/pictures/answer_forms.h"
#include "handlers/pictures/pictures.h"
#include "handlers/routes.h"
#include "handlers/simulation/simulation_expand.h"
#include "service/cli.h"

int main(int argc, char **argv)
{
    return cli_run(argc, argv,
                   &(struct cli_parts){.routes = routes(),
                                       .expansion = simulation_expansion,
                                       .draw = answer_form_draw,
                                       .show = picture_terminal,
                                       .pages = docs_paths,
                                       .endpoint_of = algorithm_endpoint});
}
