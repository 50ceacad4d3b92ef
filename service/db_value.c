/* db_value.c - values in PostgreSQL's binary format. */
#include "service/db_value.h"

#include <assert.h>
#include <ctype.h>
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Indexed by enum db_type; numbers from PostgreSQL's pg_type.dat, which never
 * change. `width`: bytes of every value, 0: it varies. */
static const struct {
    unsigned oid, array_oid;
    size_t width;
} types[] = {
    [DB_TEXT] = {25, 1009, 0},      [DB_NUMBER] = {701, 1022, 8},
    [DB_WHOLE] = {23, 1007, 4},     [DB_INTEGER] = {20, 1016, 8},
    [DB_INSTANT] = {1184, 1185, 8}, [DB_BOOLEAN] = {16, 1000, 1},
    [DB_BYTES] = {17, 1001, 0},     [DB_JSON] = {3802, 3807, 0},
    [DB_UUID] = {2950, 2951, 16},
};

enum { UUID_TEXT_LENGTH = 36 };

static const double FIRST_AT_S = -62135596800.0; /* year 1 */
static const double END_AT_S = 253402300800.0;   /* year 10000 */
static const int64_t EPOCH_US = 946684800000000; /* 2000, where PostgreSQL counts from */

unsigned db_type_oid(enum db_type type)
{
    return types[type].oid;
}

unsigned db_type_array_oid(enum db_type type)
{
    return types[type].array_oid;
}

unsigned char *db_put_16(unsigned char *to, uint16_t value)
{
    to[0] = (unsigned char)(value >> 8);
    to[1] = (unsigned char)(value & 255);
    return to + 2;
}

unsigned char *db_put_32(unsigned char *to, uint32_t value)
{
    uint32_t swapped = htobe32(value);

    memcpy(to, &swapped, sizeof(swapped));
    return to + 4;
}

unsigned char *db_put_64(unsigned char *to, uint64_t value)
{
    uint64_t swapped = htobe64(value);

    memcpy(to, &swapped, sizeof(swapped));
    return to + 8;
}

static uint32_t get_32(const unsigned char *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return be32toh(value);
}

static uint64_t get_64(const unsigned char *from)
{
    uint64_t value;

    memcpy(&value, from, sizeof(value));
    return be64toh(value);
}

int64_t db_instant_us(double at_s)
{
    double whole_s = floor(at_s);

    if (at_s < FIRST_AT_S)
        return INT64_MIN;
    if (!(at_s < END_AT_S))
        return INT64_MAX;
    /* In two parts, because at_s * 1e6 would round once more. */
    return (int64_t)whole_s * 1000000 + llround((at_s - whole_s) * 1e6) - EPOCH_US;
}

double db_instant_s(int64_t at_us)
{
    if (at_us == INT64_MIN)
        return -HUGE_VAL;
    if (at_us == INT64_MAX)
        return HUGE_VAL;
    return (double)(at_us + EPOCH_US) / 1e6;
}

static double as_double(const void *member)
{
    double number;

    memcpy(&number, member, sizeof(number));
    return number;
}

static const char *as_text(const void *member)
{
    const char *text;

    memcpy(&text, member, sizeof(text));
    return text;
}

size_t db_value_size(enum db_type type, const void *member, bool *null)
{
    struct db_bytes bytes;

    *null = false;
    switch (type) {
    case DB_NUMBER:
    case DB_WHOLE:
    case DB_INSTANT:
        *null = isnan(as_double(member));
        break;
    case DB_TEXT:
    case DB_JSON:
    case DB_UUID:
        *null = !as_text(member);
        break;
    case DB_BYTES:
        memcpy(&bytes, member, sizeof(bytes));
        *null = !bytes.data;
        break;
    default:
        break;
    }
    if (*null)
        return 0;
    if (types[type].width)
        return types[type].width;
    if (type == DB_BYTES)
        return bytes.length;
    return strlen(as_text(member)) + (type == DB_JSON);
}

static unsigned hex_value(unsigned char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower(c) - 'a' + 10);
}

static unsigned char *put_uuid(unsigned char *to, const char *text)
{
    unsigned nibble_count = 0;

    memset(to, 0, 16);
    for (; *text && nibble_count < 32; text++) {
        unsigned value = hex_value((unsigned char)*text);

        if (!isxdigit((unsigned char)*text))
            continue;
        to[nibble_count / 2] |= (unsigned char)(nibble_count % 2 ? value : value << 4);
        nibble_count++;
    }
    return to + 16;
}

static unsigned char *put_bytes(unsigned char *to, const void *data, size_t length)
{
    if (length > 0)
        memcpy(to, data, length);
    return to + length;
}

unsigned char *db_value_put(unsigned char *to, enum db_type type, const void *member)
{
    struct db_bytes bytes;
    uint64_t bits;

    switch (type) {
    case DB_NUMBER:
        memcpy(&bits, member, sizeof(bits));
        return db_put_64(to, bits);
    case DB_WHOLE:
        return db_put_32(
            to, (uint32_t)(int32_t)fmax(fmin(as_double(member), INT32_MAX), INT32_MIN));
    case DB_INSTANT:
        return db_put_64(to, (uint64_t)db_instant_us(as_double(member)));
    case DB_INTEGER:
        memcpy(&bits, member, sizeof(bits));
        return db_put_64(to, bits);
    case DB_BOOLEAN:
        *to = *(const bool *)member;
        return to + 1;
    case DB_UUID:
        return put_uuid(to, as_text(member));
    case DB_BYTES:
        memcpy(&bytes, member, sizeof(bytes));
        return put_bytes(to, bytes.data, bytes.length);
    case DB_JSON:
        *to++ = 1; /* the version of jsonb's binary format */
        break;
    default:
        break;
    }
    return put_bytes(to, as_text(member), strlen(as_text(member)));
}

size_t db_cell_size(enum db_type type, const void *member)
{
    bool null;

    return 4 + db_value_size(type, member, &null);
}

unsigned char *db_cell_put(unsigned char *to, enum db_type type, const void *member)
{
    bool null;
    size_t size = db_value_size(type, member, &null);

    if (null)
        return db_put_32(to, UINT32_MAX);
    assert(size <= INT32_MAX);
    return db_value_put(db_put_32(to, (uint32_t)size), type, member);
}

static bool get_bytes(const unsigned char *data, size_t length, void *member,
                      struct arena *a)
{
    struct db_bytes bytes = {NULL, length};

    if (data) {
        bytes.data = (const unsigned char *)arena_try_text(a, (const char *)data, length);
        if (!bytes.data)
            return false;
    }
    memcpy(member, &bytes, sizeof(bytes));
    return true;
}

static bool get_text(const unsigned char *data, size_t length, void *member,
                     struct arena *a)
{
    const char *text = NULL;

    if (data) {
        text = arena_try_text(a, (const char *)data, length);
        if (!text)
            return false;
    }
    memcpy(member, &text, sizeof(text));
    return true;
}

static bool get_uuid(const unsigned char *data, void *member, struct arena *a)
{
    char text[2 * 16 + 4 + 1];
    char *to = text;

    for (size_t i = 0; data && i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        to += snprintf(to, 3, "%02x", data[i]);
    }
    return get_text(data ? (const unsigned char *)text : NULL, UUID_TEXT_LENGTH, member,
                    a);
}

static void get_double(enum db_type type, const unsigned char *data, void *member)
{
    double number = (double)NAN;
    uint64_t bits;

    if (data && type == DB_WHOLE) {
        number = (int32_t)get_32(data);
    } else if (data && type == DB_INSTANT) {
        number = db_instant_s((int64_t)get_64(data));
    } else if (data) {
        bits = get_64(data);
        memcpy(&number, &bits, sizeof(number));
    }
    memcpy(member, &number, sizeof(number));
}

bool db_value_get(enum db_type type, const unsigned char *data, size_t length,
                  void *member, struct arena *a)
{
    uint64_t integer;

    if (data && types[type].width && length != types[type].width)
        return false;
    switch (type) {
    case DB_NUMBER:
    case DB_WHOLE:
    case DB_INSTANT:
        get_double(type, data, member);
        return true;
    case DB_INTEGER:
        integer = data ? get_64(data) : 0;
        memcpy(member, &integer, sizeof(integer));
        return true;
    case DB_BOOLEAN:
        *(bool *)member = data && *data;
        return true;
    case DB_UUID:
        return get_uuid(data, member, a);
    case DB_BYTES:
        return get_bytes(data, length, member, a);
    case DB_JSON:
        if (data && (length < 1 || *data++ != 1))
            return false;
        return get_text(data, data ? length - 1 : 0, member, a);
    default:
        return get_text(data, length, member, a);
    }
}

enum error_code db_values_check(const struct db_column *columns, size_t row_size,
                                const void *list, size_t count, struct error *err)
{
    enum error_code code = OK;

    for (const struct db_column *c = columns; c->type != DB_END; c++) {
        if (c->type != DB_INSTANT)
            continue;
        for (size_t i = 0; i < count; i++) {
            double at_s = as_double((const char *)list + i * row_size + c->offset);
            char pointer[64];
            size_t length;

            if (isnan(at_s) || (at_s >= FIRST_AT_S && at_s < END_AT_S))
                continue;
            /* The member without its unit: observed_at for observed_at_s. */
            length = strlen(c->name);
            if (length > 2 && strcmp(c->name + length - 2, "_s") == 0)
                length -= 2;
            snprintf(pointer, sizeof(pointer), "/%zu/%.*s", i, (int)length, c->name);
            code = invalid(err, pointer, ITEM_OUT_OF_BOUNDS,
                           "not between the years 1 and 9999");
        }
    }
    return code;
}
