/* xml_text.h - XML documents of any usual encoding as UTF-8.
 *
 * By the byte order mark, else by the encoding of the XML declaration, else UTF-8, as XML
 * 1.0 has it. Known are UTF-8, US-ASCII, UTF-16 with a mark, ISO-8859-1, ISO-8859-15 and
 * windows-1252.
 */
#ifndef GRIDPLAN_XML_TEXT_H
#define GRIDPLAN_XML_TEXT_H

#include "models/base/error.h"

/* *out: the document, ended by a NUL that is not part of *out_length. Its declaration
 * still says what it said. ERR_INVALID at `pointer`: another encoding, or bytes that are
 * none of it, with their line. */
enum error_code xml_text_to_utf8(const char *text, size_t length, const char *pointer,
                                 const char **out, size_t *out_length, struct arena *a,
                                 struct error *err);

#endif
