// slurm_support.hpp - recorded documents of a Slurm, and what becomes of them.
#pragma once
#include "tests/api.hpp"

#include <fstream>
#include <sstream>

// Text of a file of a recording; "" if it has none. plan1 is in the project, the others
// are read where GRIDPLAN_DATA says.
inline std::string recorded(const std::string &recording, const std::string &name)
{
    std::ifstream in(std::string(GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/") +
                     recording + "/" + name);
    const char *data = getenv("GRIDPLAN_DATA");

    if (!in && data)
        in =
            std::ifstream(std::string(data) + "/engines/slurm/" + recording + "/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

inline std::vector<std::string> recordings()
{
    std::vector<std::string> list;

    for (const char *name :
         {"plan1", "plan2", "plan4", "plan5", "live1", "live3", "live4"})
        if (!recorded(name, "t0/squeue.json").empty())
            list.push_back(name);
    if (list.size() == 1)
        WARN("only plan1: GRIDPLAN_DATA does not name the data folder");
    return list;
}

// A part of a request: each document as text.
inline void add_part(std::string &body, const char *part, const std::string &text)
{
    if (text.empty())
        return;
    body += body.size() > 1 ? ", \"" : "\"";
    body += part;
    body += "\": ";
    body += nlohmann::json(text).dump();
}

enum slurm_form { FORM_JSON, FORM_TEXT, FORM_REST, FORM_V40 };

// All that was recorded at t0, in one of its forms.
inline std::string import_body(const std::string &recording, slurm_form form,
                               const std::string &when = "t0/")
{
    auto text = [&](const char *name) { return recorded(recording, when + name); };
    std::string body = "{";

    add_part(body, "squeue",
             text(form == FORM_TEXT   ? "scontrol_show_job.txt"
                  : form == FORM_REST ? "rest_jobs.json"
                  : form == FORM_V40  ? "squeue.v0040.json"
                                      : "squeue.json"));
    add_part(body, "sinfo",
             text(form == FORM_TEXT   ? "scontrol_show_node.txt"
                  : form == FORM_REST ? "rest_nodes.json"
                                      : "sinfo.json"));
    bool is_text = form == FORM_TEXT;
    add_part(body, "partitions",
             text(is_text ? "scontrol_show_partition.txt" : "rest_partitions.json"));
    add_part(body, "reservations",
             text(is_text ? "scontrol_show_reservation.txt" : "rest_reservations.json"));
    add_part(body, "licenses",
             text(is_text ? "scontrol_show_licenses.txt" : "rest_licenses.json"));
    add_part(body, "scontrol_config", text("scontrol_show_config.txt"));
    add_part(body, "shares", text("sshare.txt"));
    add_part(body, "qos", text("sacctmgr_qos.txt"));
    add_part(body, "associations", text("sacctmgr_assoc.txt"));
    std::string now = text("now_s");
    body += ", \"now_s\": " + now.substr(0, now.find_last_not_of(" \n") + 1) +
            ", \"tz_offset_s\": 0}";
    return body;
}
