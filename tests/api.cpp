// api.cpp - the API without a socket (api.hpp).
#include "tests/api.hpp"
#include "tests/description.hpp"

#include <cstring>
#include <stdexcept>

extern "C" {
#include "handlers/pictures/answer_forms.h"
#include "service/migrate.h"
#include "service/session_cache.h"
}

enum { SESSIONS_KEPT_BYTES = 64 << 20 };

// Catch2's assertions are for one thread, and some tests ask from many.
static void must(bool holds, const std::string &what)
{
    if (!holds)
        throw std::runtime_error(what);
}

// The description as it is served; made once.
const openapi_document *test_document()
{
    static const struct document : openapi_document {
        document() : openapi_document{}
        {
            error err{};
            must(openapi_document_create(routes(), nullptr, this, &err) == OK, err.text);
        }
        ~document()
        {
            openapi_document_close(this);
        }
    } made;

    return &made;
}

nlohmann::json api_reply::json() const
{
    return nlohmann::json::parse(body);
}

std::vector<std::string> api_reply::pointers() const
{
    std::vector<std::string> list;

    for (const auto &e : json().value("errors", nlohmann::json::array()))
        list.push_back(e.value("in", "") == "query"
                           ? "?/" + e.at("name").get<std::string>()
                           : e.at("pointer").get<std::string>());
    return list;
}

api::api(const std::string &database) : settings(size_t{1} << 20)
{
    const char *const none[] = {nullptr};
    error err = collecting_error(settings);

    must(config_read(none, none, &config_, settings, &err) == OK, err.text);
    service_.config = &config_;
    service_.routes = routes();
    service_.description = test_document();
    service_.draw = answer_form_draw;
    service_.metrics = metrics_create(false);
    if (!database.empty()) {
        db_options options{};
        size_t applied = 0;

        options.conninfo = database.c_str();
        options.pool_size = 4;
        options.prepared = !getenv("GRIDPLAN_TEST_PREPARED"); // set behind PgBouncer
        options.connect_timeout_s = 2;
        options.wait_timeout_s = 5;
        options.statement_timeout_s = 30;
        must(db_create(&options, &service_.db, &err) == OK, err.text);
        must(migrate_run(service_.db, migrations, migration_count, &applied, &err) == OK,
             err.text);
        service_.sessions = session_cache_create(SESSIONS_KEPT_BYTES);
    }
}

api::~api()
{
    session_cache_close(service_.sessions);
    db_close(service_.db);
    metrics_close(service_.metrics);
}

// The pairs of a target's query; `texts` has what they point to.
static std::vector<query_pair> split(const std::string &target,
                                     std::vector<std::string> &texts)
{
    std::vector<query_pair> pairs;
    size_t at = target.find('?');

    texts.reserve(2 * 64);
    while (at != std::string::npos && at + 1 < target.size()) {
        size_t end = target.find('&', at + 1);
        std::string pair =
            target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
        size_t equals = pair.find('=');
        texts.push_back(pair.substr(0, equals));
        texts.push_back(equals == std::string::npos ? "" : pair.substr(equals + 1));
        at = end;
    }
    for (size_t i = 0; i < texts.size(); i += 2)
        pairs.push_back({texts[i].c_str(), texts[i + 1].c_str()});
    return pairs;
}

api_reply api::call(const std::string &method, const std::string &target,
                    const std::string &body, std::map<std::string, std::string> headers,
                    size_t cap_bytes)
{
    test_arena a(cap_bytes);
    message m{};
    std::vector<std::string> texts;
    std::vector<query_pair> query = split(target, texts);
    auto header = [&](const char *name) -> const char * {
        auto h = headers.find(name);
        return h == headers.end() ? nullptr : h->second.c_str();
    };
    std::string path = target.substr(0, target.find('?'));

    m.method = method.c_str();
    m.path = path.c_str();
    m.query = query.data();
    m.query_count = query.size();
    m.body = body.data();
    m.body_length = body.size();
    m.remote_address = "127.0.0.1";
    m.accept = header("accept");
    m.accept_encoding = header("accept_encoding");
    m.authorization = header("authorization");
    m.content_encoding = header("content_encoding");
    m.content_type = header("content_type");
    m.if_match = header("if_match");
    m.if_none_match = header("if_none_match");
    m.idempotency_key = header("idempotency_key");
    m.origin = header("origin");
    m.prefer = header("prefer");
    m.request_id = header("request_id");
    m.traceparent = header("traceparent");
    m.access_control_request_method = header("access_control_request_method");

    reply r{};
    route_answer(&service_, &m, nullptr, true, &r, a);
    api_reply out{r.status, {}, {}};
    if (r.body)
        out.body.assign(r.body, r.body_length);
    for (size_t i = 0; i < r.header_count; i++) {
        must(strcmp(r.headers[i].name, "Vary") == 0 ||
                 out.headers.count(r.headers[i].name) == 0,
             std::string(r.headers[i].name) + " is there twice: " + method + " " +
                 target);
        out.headers[r.headers[i].name] = r.headers[i].value;
    }
    out.headers["Content-Type"] = r.content_type ? r.content_type : "";
    if (!out.headers.count("Content-Encoding")) {
        std::string mistakes = broken_promises(
            method, path, r.status,
            [&](const std::string &name) {
                auto h = out.headers.find(name);
                return h == out.headers.end() ? "" : h->second;
            },
            out.body);
        if (!mistakes.empty()) // an exception: threads call too, Catch is for one
            throw std::runtime_error(method + " " + target + " " + body.substr(0, 500) +
                                     "\n" + mistakes);
    }
    return out;
}

api_reply api::post(const std::string &path, const std::string &body)
{
    return call("POST", path, body);
}

api_reply api::get(const std::string &target)
{
    return call("GET", target);
}
