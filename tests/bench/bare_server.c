/* bare_server.c - the least that answers POST /v1/checkpoint-intervals.
 *
 * libmicrohttpd with the flags and threads of service/http.c, cJSON to parse
 * and print, the same decision, and nothing else: no checks, no ids that
 * matter, no log, no metrics. What gridplan is compared with.
 *
 * bare_server PORT
 */
#include "algorithms/checkpoint/checkpoint.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, BODY_MAX = 65536 };

struct body {
    size_t length;
    char data[BODY_MAX];
};

static double number_of(const cJSON *object, const char *name, double preset)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(member) ? member->valuedouble : preset;
}

static cJSON *interval_of(const cJSON *job)
{
    struct checkpoint_in in = {
        .checkpoint_overhead_s = number_of(job, "checkpoint_overhead_s", 0),
        .mean_failure_interval_s = number_of(job, "mean_failure_interval_s", 1),
        .restart_s = number_of(job, "restart_s", 0),
        .execution_time_s = number_of(job, "execution_time_s", NAN),
        .remaining_s = NAN,
    };
    const double param[CHECKPOINT_PARAM_COUNT] = {0};
    struct checkpoint_out out;
    struct error err;
    cJSON *answer = cJSON_CreateObject();

    checkpoint_decide(policy_find(checkpoint_policies, "young"), &in, param, &out, &err);
    cJSON_AddStringToObject(
        answer, "job_id",
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(job, "id")));
    cJSON_AddNumberToObject(answer, "interval_s", out.interval_s);
    cJSON_AddBoolToObject(answer, "at_minimum", out.at_minimum);
    cJSON_AddStringToObject(answer, "action", checkpoint_action_names[out.action]);
    cJSON_AddStringToObject(answer, "reason", checkpoint_reason_names[out.reason]);
    cJSON_AddNumberToObject(answer, "next_request_in_s", out.next_request_in_s);
    cJSON_AddNumberToObject(answer, "consecutive_omissions",
                            (double)out.consecutive_omissions);
    cJSON_AddNumberToObject(answer, "expected_time_ratio", out.expected_time_ratio);
    cJSON_AddNumberToObject(answer, "waste_ratio", out.waste_ratio);
    cJSON_AddNumberToObject(answer, "gap_ratio", out.gap_ratio);
    cJSON_AddNumberToObject(answer, "mean_failure_interval_s",
                            in.mean_failure_interval_s);
    return answer;
}

static char *answer_to(const struct body *body)
{
    cJSON *request = cJSON_ParseWithLength(body->data, body->length);
    cJSON *answer = cJSON_CreateObject();
    cJSON *intervals, *timings;
    const cJSON *job;
    char *text;

    cJSON_AddStringToObject(answer, "decision_id",
                            "00000000-0000-4000-8000-000000000000");
    cJSON_AddStringToObject(answer, "algorithm", "young");
    cJSON_AddNumberToObject(answer, "seed", 1);
    cJSON_AddStringToObject(answer, "status", "feasible");
    intervals = cJSON_AddArrayToObject(answer, "intervals");
    cJSON_ArrayForEach(job, cJSON_GetObjectItemCaseSensitive(request, "jobs"))
        cJSON_AddItemToArray(intervals, interval_of(job));
    cJSON_AddArrayToObject(answer, "warnings");
    timings = cJSON_AddObjectToObject(answer, "timings");
    cJSON_AddNumberToObject(timings, "parse_s", 1.2345e-05);
    cJSON_AddNumberToObject(timings, "decide_s", 1.2345e-06);
    text = cJSON_PrintUnformatted(answer);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return text;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection,
                              const char *url, const char *method, const char *version,
                              const char *data, size_t *data_length, void **state)
{
    struct body *body = *state;
    struct MHD_Response *response;
    enum MHD_Result result;
    char *text;

    (void)context, (void)url, (void)version;
    if (!body) {
        *state = body = malloc(sizeof(*body));
        if (body)
            body->length = 0;
        return body ? MHD_YES : MHD_NO;
    }
    if (*data_length > 0) {
        if (body->length + *data_length > BODY_MAX)
            return MHD_NO;
        memcpy(body->data + body->length, data, *data_length);
        body->length += *data_length;
        *data_length = 0;
        return MHD_YES;
    }
    text = strcmp(method, "POST") == 0 ? answer_to(body) : strdup("{}");
    response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, "Content-Type", "application/json");
    result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    free(*state);
    *state = NULL;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon;

    if (argc != 2)
        return 2;
    address.sin_port = htons((uint16_t)atoi(argv[1]));
    daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer,
        NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)THREADS, MHD_OPTION_CONNECTION_TIMEOUT, 75U,
        MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END);
    if (!daemon)
        return 1;
    for (;;)
        pause();
}
