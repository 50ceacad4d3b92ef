/* dax.h - workflows of Pegasus: DAX documents, versions 2.1 to 3.6.
 *
 * Read are jobs (also <dax> and <dag>, workflows that run as one job) with id, name and
 * run time, their files with direction and size, and the dependencies of <child> and
 * <parent>. The run time is the attribute `runtime`, as in the published synthetic
 * workflows, else the profile pegasus:runtime; sizes are the attribute `size`, else the
 * metadata `size` of the use or of the file.
 *
 * A document type declaration is refused, and with it all entities but XML's own five.
 *
 * Source: Pegasus' schemas dax-2.1.xsd to dax-3.6.xsd.
 */
#ifndef GRIDPLAN_DAX_H
#define GRIDPLAN_DAX_H

#include "models/workflow_build.h"

/* The text is UTF-8, whatever its XML declaration says: service/xml_text.h makes it so.
 * Mistakes are collected in *err with `pointer`, each with its line. */
enum error_code dax_read(const char *text, size_t length, const char *pointer,
                         struct workflow_import *out, struct arena *a, struct error *err);

#endif
