/* main.c - the program: the only file that sees every layer. */
#include "handlers/docs/docs.h"
#include "handlers/pictures/answer_forms.h"
#include "handlers/routes.h"
#include "handlers/simulation/simulation_expand.h"
#include "service/cli.h"

int main(int argc, char **argv)
{
    return cli_run(argc, argv, routes(), simulation_expansion, answer_form_draw,
                   docs_paths);
}
