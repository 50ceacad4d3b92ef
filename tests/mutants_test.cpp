// mutants_test.cpp - examples with something wrong in them are answered, whatever it is.
//
// A mutant is the request of an example with one to four changes: members dropped,
// renamed, exchanged, made null, empty, huge or of another type; elements doubled, so
// that ids are there twice; texts exchanged, so that references go astray or in circles;
// now and then a broken byte. Each gets an answer that the description allows (api.hpp
// looks) and that is neither 500 nor late; sanitizers judge the rest. The case below
// plays a few, by
//     GRIDPLAN_MUTANTS=1000000 build/dev/tests/gridplan_tests '[mutants]'
// it plays that many, GRIDPLAN_MUTANTS_SEED says which. A failure names the number of the
// mutant, and GRIDPLAN_MUTANTS_FIRST begins there; mutant.txt is the last one that was
// sent.
#include "tests/api.hpp"
#include "tests/examples.hpp"

#include <chrono>
#include <iostream>

using nlohmann::json;

namespace
{

// Late: a hang, not a busy machine; a mutant may have more time by its own limit.
const double TIME_LIMIT_S = 0.02, LATE_S = 20;

uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Every value of a document; those that hold others first.
void collect(json &value, std::vector<json *> &all)
{
    all.push_back(&value);
    if (value.is_structured())
        for (json &part : value)
            collect(part, all);
}

class mutator
{
  public:
    mutator(uint64_t seed, const std::vector<json> &documents)
        : draw_(rng_create(seed)), documents_(documents)
    {
    }
    std::string mutate(json document)
    {
        size_t changes = 1 + rng_index(&draw_, 4);

        for (size_t i = 0; i < changes; i++)
            change(document);
        std::string text = document.dump();
        if (rng_index(&draw_, 12) == 0)
            break_bytes(text);
        return text;
    }

  private:
    void change(json &document)
    {
        std::vector<json *> all;

        collect(document, all);
        json &place = *pick(all);
        if (place.is_object() && !place.empty() && rng_index(&draw_, 2))
            change_object(place);
        else if (place.is_array() && !place.empty() && rng_index(&draw_, 2))
            change_array(place);
        else if (place.is_number() && rng_index(&draw_, 2))
            change_number(place);
        else if (place.is_string() && rng_index(&draw_, 2))
            place = other_text(document);
        else
            place = another(document);
    }
    void change_object(json &object)
    {
        std::vector<std::string> names;

        for (auto &[name, value] : object.items())
            names.push_back(name);
        const std::string name = pick(names), other = pick(names);
        json value = object[name];

        switch (rng_index(&draw_, 4)) {
        case 0:
            object.erase(name);
            break;
        case 1:
            object[name + (rng_index(&draw_, 2) ? "_s" : "x")] = value;
            break;
        case 2:
            object[name] = object[other];
            object[other] = value;
            break;
        default:
            object[other] = value;
        }
    }
    void change_array(json &array)
    {
        size_t i = rng_index(&draw_, array.size()), j = rng_index(&draw_, array.size());
        json value = array[i];

        switch (rng_index(&draw_, 5)) {
        case 0:
            array.erase(i);
            break;
        case 1:
            array.push_back(value);
            break;
        case 2:
            array[i] = array[j];
            array[j] = value;
            break;
        case 3:
            array.clear();
            break;
        default:
            for (size_t more = 0; more < 40; more++)
                array.push_back(value);
        }
    }
    void change_number(json &number)
    {
        const double factors[] = {-1, 0, 1e-300, 1e-9, 0.5, 2, 1000, 1e9, 1e300};
        const double value = number.get<double>();

        switch (rng_index(&draw_, 3)) {
        case 0:
            number = value + (rng_index(&draw_, 2) ? 1 : -1);
            break;
        case 1:
            number = std::nextafter(value, rng_index(&draw_, 2) ? 1e308 : -1e308);
            break;
        default:
            number = value * factors[rng_index(&draw_, std::size(factors))];
        }
        if (!std::isfinite(number.get<double>()))
            number = 1e308;
    }
    json other_text(json &document)
    {
        const char *const odd[] = {"", "/", "é", "a b", "..", "null", "0", "id\tx", "-1"};
        std::vector<json *> all, texts;

        if (rng_index(&draw_, 3) == 0)
            return odd[rng_index(&draw_, std::size(odd))];
        collect(document, all);
        for (json *value : all)
            if (value->is_string())
                texts.push_back(value);
        return *pick(texts);
    }
    json another(json &document)
    {
        std::vector<json *> all;

        switch (rng_index(&draw_, 4)) {
        case 0: {
            const json odd[] = {nullptr,
                                true,
                                false,
                                0,
                                -1,
                                1e308,
                                -1e308,
                                5e-324,
                                9007199254740993,
                                std::numeric_limits<uint64_t>::max(),
                                1.5,
                                "",
                                std::string(5000, 'a'),
                                json::array(),
                                json::object(),
                                json::array({json::array({json::object()})})};
            return odd[rng_index(&draw_, std::size(odd))];
        }
        case 1: {
            json elsewhere = documents_[rng_index(&draw_, documents_.size())];
            collect(elsewhere, all);
            return *pick(all);
        }
        default:
            collect(document, all);
            return *pick(all);
        }
    }
    void break_bytes(std::string &text)
    {
        size_t at = rng_index(&draw_, text.size());

        switch (rng_index(&draw_, 3)) {
        case 0:
            text[at] = (char)rng_index(&draw_, 256);
            break;
        case 1:
            text.erase(at, 1 + rng_index(&draw_, 20));
            break;
        default:
            text.insert(at, text.substr(at, 1 + rng_index(&draw_, 20)));
        }
    }
    template <class T> T &pick(std::vector<T> &list)
    {
        return list[rng_index(&draw_, list.size())];
    }

    rng draw_;
    const std::vector<json> &documents_;
};

struct subject {
    example e;
    json document;
};

// Requests with a JSON body, those that compute with a short limit where they take one.
std::vector<subject> subjects(api &a)
{
    std::vector<subject> list;

    for (const example &e : examples()) {
        if (!e.row || e.body.empty() || (e.body[0] != '{' && e.body[0] != '[') ||
            e.body.size() > 50000)
            continue;
        if (e.row->work == WORK_QUERY || e.row->flags & ROUTE_BULK)
            continue; // without a database they say 503, whatever comes
        json document;
        try {
            document = json::parse(e.body);
        } catch (const std::exception &) {
            continue; // lines, or a file of others
        }
        if (document.is_object() && e.row->example) {
            json limited = document;
            limited["time_limit_s"] = TIME_LIMIT_S;
            if (a.call(e.method, e.target, limited.dump(), e.headers).status < 300)
                document = limited;
        }
        list.push_back({e, document});
    }
    return list;
}

// The limit that a mutant was left with.
double limit_s(const std::string &body)
{
    try {
        const json document = json::parse(body);

        if (document.is_object() && document.contains("time_limit_s") &&
            document.at("time_limit_s").is_number())
            return std::max(0.0, document.at("time_limit_s").get<double>());
    } catch (const std::exception &) { // broken, and refused
    }
    return 0;
}

} // namespace

TEST_CASE("every mutant of an example has an answer", "[api][mutants]")
{
    const uint64_t seed = setting("GRIDPLAN_MUTANTS_SEED", 1);
    const uint64_t first = setting("GRIDPLAN_MUTANTS_FIRST", 0);
    const uint64_t count = setting("GRIDPLAN_MUTANTS", is_long_run()    ? 20000
                                                       : is_sanitized() ? 600
                                                                        : 1500);
    api a;
    const std::vector<subject> all = subjects(a);
    std::vector<json> documents;
    std::map<int, size_t> seen;
    const auto begun = std::chrono::steady_clock::now();

    REQUIRE(all.size() > 80);
    for (const subject &s : all)
        documents.push_back(s.document);
    for (uint64_t i = first; i < first + count; i++) {
        const subject &s = all[i % all.size()];
        mutator m(seed * 1000003 + i, documents);
        const std::string body = m.mutate(s.document);
        if (getenv("GRIDPLAN_MUTANTS"))
            std::ofstream("mutant.txt") << i << " " << s.e.name << "\n" << body << "\n";
        const auto before = std::chrono::steady_clock::now();
        api_reply r;
        try {
            r = a.call(s.e.method, s.e.target, body, s.e.headers);
        } catch (const std::exception &e) {
            FAIL_CHECK("mutant " << i << " of " << s.e.name << ": " << e.what());
            continue;
        }
        const double took_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before)
                .count();
        seen[r.status]++;
        if (r.status == 500 || took_s > LATE_S + limit_s(body))
            FAIL_CHECK("mutant " << i << " of " << s.e.name << ": status " << r.status
                                 << " after " << took_s << " s\n"
                                 << body.substr(0, 2000) << "\n"
                                 << r.body.substr(0, 500));
    }
    size_t answered = 0;
    for (auto &[status, times] : seen) {
        INFO(status);
        CHECK((status < 300 || (status >= 400 && status < 500) || status == 503));
        answered += times;
    }
    CHECK(answered == count);
    CHECK(seen[422] > 0);
    CHECK(seen[200] > 0);
    if (getenv("GRIDPLAN_MUTANTS")) {
        for (auto &[status, times] : seen)
            std::cout << status << ": " << times << "\n";
        std::cout << count << " mutants in "
                  << std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                                   begun)
                         .count()
                  << " s\n";
    }
}
