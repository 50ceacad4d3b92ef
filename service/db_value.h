/* db_value.h - values in PostgreSQL's binary format, without libpq.
 *
 * A cell is what COPY and arrays use: a length of 4 bytes (-1: null), then the
 * value, all in network byte order.
 */
#ifndef GRIDPLAN_DB_VALUE_H
#define GRIDPLAN_DB_VALUE_H

#include "service/db.h"

/* PostgreSQL's number for the type, and for an array of it. */
unsigned db_type_oid(enum db_type type);
unsigned db_type_array_oid(enum db_type type);

/* Bytes of the value at `member`, and whether it is null (then 0). */
size_t db_value_size(enum db_type type, const void *member, bool *null);

/* Writes the value (not null) and returns the end of it. */
unsigned char *db_value_put(unsigned char *to, enum db_type type, const void *member);

/* The same with its length before it, or as a null. */
size_t db_cell_size(enum db_type type, const void *member);
unsigned char *db_cell_put(unsigned char *to, enum db_type type, const void *member);

/* Reads a value into the struct's member; data NULL: null, the member is what
 * stands for nothing. False: no memory, or bytes that are no such value. */
bool db_value_get(enum db_type type, const unsigned char *data, size_t length,
                  void *member, struct arena *a);

/* Adds to *err every instant of the rows that PostgreSQL cannot keep. */
enum error_code db_values_check(const struct db_column *columns, size_t row_size,
                                const void *list, size_t count, struct error *err);

/* Microseconds since 2000, as the database keeps an instant. What is out of
 * range is the infinity of that side. */
int64_t db_instant_us(double at_s);
double db_instant_s(int64_t at_us);

unsigned char *db_put_16(unsigned char *to, uint16_t value);
unsigned char *db_put_32(unsigned char *to, uint32_t value);
unsigned char *db_put_64(unsigned char *to, uint64_t value);

#endif
