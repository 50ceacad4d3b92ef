/* errors.c - GET /v1/errors: the codes of errors, of mistakes and of warnings. */
#include "handlers/operations/routes.h"

#include "models/base/warning_codes.h"
#include "models/fitted/core.h"
#include "models/performance/performance.h"
#include "models/progress/progress.h"

struct code_row {
    uint64_t status; /* of errors */
    const char *code, *title, *cause, *remedy;
};

struct warning_row {
    const char *code, *meaning;
};

struct errors_answer {
    const struct code_row *error_codes, *item_codes;
    const struct warning_row *warning_codes;
    size_t error_count, item_count, warning_count;
};

#define T struct code_row
#define CODE_ROWS                                            \
    JSON_TEXT(T, code, 0, "Name on the wire, which stays"),  \
        JSON_TEXT(T, title, 0, "What it says, in one line"), \
        JSON_TEXT(T, cause, 0, "What leads to it"),          \
        JSON_TEXT(T, remedy, 0, "What to do then")
static const struct json_field error_rows[] = {
    JSON_INTEGER(T, status, 0, 599, 0, 0, "HTTP status"),
    CODE_ROWS,
    {0},
};
static const struct json_field item_rows[] = {CODE_ROWS, {0}};
#undef T
static const struct json_object error_json = {"ErrorCode", "What may become of a request",
                                              sizeof(struct code_row), error_rows};
static const struct json_object item_json = {"ItemCode", "What may be wrong with a value",
                                             sizeof(struct code_row), item_rows};

#define T struct warning_row
static const struct json_field warning_rows[] = {
    JSON_TEXT(T, code, 0, "The word before the colon"),
    JSON_TEXT(T, meaning, 0, "What it says, in one line"),
    {0},
};
#undef T
static const struct json_object warning_json = {"WarningCode",
                                                "What an answer may warn of",
                                                sizeof(struct warning_row), warning_rows};

#define T struct errors_answer
static const struct json_field answer_rows[] = {
    JSON_LIST(T, error_codes, error_count, struct code_row, &error_json, 0, 0,
              "Codes of problems, by status"),
    JSON_LIST(T, item_codes, item_count, struct code_row, &item_json, 0, 0,
              "Codes of the elements of a problem's errors, by name"),
    JSON_LIST(T, warning_codes, warning_count, struct warning_row, &warning_json, 0, 0,
              "Codes of warnings, by name; then those of predictions"),
    {0},
};
#undef T
const struct json_object errors_answer_json = {"ErrorsAnswer",
                                               "Every code that an answer may have",
                                               sizeof(struct errors_answer), answer_rows};

static const struct code_row item_codes[] = {
#define X(symbol, name, title, cause, remedy) {0, name, title, cause, remedy},
    ITEM_CODES(X)
#undef X
};

static const struct warning_row warning_codes[] = {
#define X(name, meaning) {#name, meaning},
    WARNING_CODES(X)
#undef X
};

enum {
    ITEM_CODES_COUNT = sizeof(item_codes) / sizeof(item_codes[0]),
    WARNING_CODES_COUNT = sizeof(warning_codes) / sizeof(warning_codes[0]),
    FURTHER_MAX = 64
};

/* What is never sent has no cause. */
static void fill_errors(struct request *rq, struct errors_answer *answer)
{
    static const struct code_row rows[] = {
#define X(symbol, status, name, title, cause, remedy) \
    {status, name, title, cause, remedy},
        ERROR_CODES(X)
#undef X
    };
    size_t count = sizeof(rows) / sizeof(rows[0]);
    struct code_row *list = NEW(rq->arena, struct code_row, count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].cause[0])
            list[answer->error_count++] = rows[i];
    answer->error_codes = list;
}

static size_t add_warnings(const char *const *names, const char *const *texts,
                           struct warning_row *list, size_t count)
{
    for (size_t i = 0; names[i] && count < WARNING_CODES_COUNT + FURTHER_MAX; i++)
        list[count++] = (struct warning_row){names[i], texts[i]};
    return count;
}

static void fill_warnings(struct request *rq, struct errors_answer *answer)
{
    struct warning_row *list =
        NEW(rq->arena, struct warning_row, WARNING_CODES_COUNT + FURTHER_MAX);
    size_t count = 0;

    for (; count < WARNING_CODES_COUNT; count++)
        list[count] = warning_codes[count];
    count = add_warnings(perf_warning_names, perf_warning_texts, list, count);
    count = add_warnings(progress_warning_names, progress_warning_texts, list, count);
    answer->warning_count = add_warnings(core_note_names, core_note_texts, list, count);
    answer->warning_codes = list;
}

enum error_code get_errors(struct request *rq, const void *in, void *out)
{
    struct errors_answer *answer = out;

    (void)in;
    answer->item_codes = item_codes;
    answer->item_count = ITEM_CODES_COUNT;
    fill_errors(rq, answer);
    fill_warnings(rq, answer);
    return OK;
}
