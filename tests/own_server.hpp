// own_server.hpp - a PostgreSQL that a test has for itself, and may kill.
#pragma once
#include "tests/database.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>

inline std::string output_of(const std::string &command)
{
    std::string text;
    char buffer[1024];
    FILE *p = popen(command.c_str(), "r");
    while (size_t n = fread(buffer, 1, sizeof(buffer), p))
        text.append(buffer, n);
    pclose(p);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

inline const char *script()
{
    return GRIDPLAN_SOURCE_DIR "/tests/postgres.sh";
}

// A server of its own, which may be killed; it waits for the disk as in use.
struct own_server {
    std::string folder, url;
    own_server()
    {
        char name[] = "/tmp/gridplan-db-test.XXXXXX";
        folder = mkdtemp(name);
        REQUIRE(!system(("chmod 755 " + folder).c_str()));
        start();
    }
    ~own_server()
    {
        signal_all(SIGCONT);
        int ignored = system((std::string(script()) + " stop " + folder +
                              " >/dev/null 2>&1; rm -rf " + folder)
                                 .c_str());
        (void)ignored;
    }
    void start()
    {
        url = output_of(std::string(script()) + " start " + folder + " 2>/dev/null");
        REQUIRE(url.rfind("postgres", 0) == 0);
    }
    pid_t pid() const
    {
        std::ifstream file(folder + "/cluster/data/postmaster.pid");
        pid_t pid = 0;
        file >> pid;
        return pid;
    }
    // The server and its processes, which are its children.
    void signal_all(int number) const
    {
        pid_t server = pid();
        if (server <= 1)
            return;
        std::string children = output_of("ps -o pid= --ppid " + std::to_string(server));
        kill(server, number);
        for (char *at = children.data(), *end;
             (end = at, strtol(at, &end, 10)) && end != at; at = end)
            kill((pid_t)strtol(at, nullptr, 10), number);
    }
};
