// client.hpp - a plain HTTP client over one socket, for tests that look at every byte.
#pragma once
#include "tests/description.hpp"
#include "tests/json.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

using steady = std::chrono::steady_clock;

inline double now_s()
{
    return std::chrono::duration<double>(steady::now().time_since_epoch()).count();
}

struct answer {
    int status = 0; // 0: closed, or nothing in time, before there was one
    std::string header, body;

    std::string field(const std::string &name) const // "Retry-After"; "" if there is none
    {
        for (size_t at = 0; (at = header.find("\r\n", at)) != std::string::npos;) {
            at += 2;
            if (strncasecmp(header.c_str() + at, (name + ": ").c_str(),
                            name.size() + 2) == 0)
                return header.substr(at + name.size() + 2,
                                     header.find("\r\n", at) - at - name.size() - 2);
        }
        return "";
    }
    nlohmann::json json() const
    {
        return nlohmann::json::parse(body);
    }
    bool closes() const
    {
        return strcasecmp(field("Connection").c_str(), "close") == 0;
    }
};

// One connection to 127.0.0.1, from another loopback address if one is given.
struct client {
    int fd = -1;
    std::string pending; // received and not consumed

    explicit client(int port, const char *from = nullptr)
    {
        sockaddr_in to{}, own{};
        int on = 1;

        to.sin_family = AF_INET;
        to.sin_port = htons((uint16_t)port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        own.sin_family = AF_INET;
        if (from && inet_pton(AF_INET, from, &own.sin_addr) == 1)
            REQUIRE(bind(fd, (sockaddr *)&own, sizeof(own)) == 0);
        timeval limit{60, 0};
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        if (fd >= 0 && connect(fd, (sockaddr *)&to, sizeof(to)) != 0)
            hang_up();
    }
    client(client &&other) noexcept
    {
        *this = std::move(other);
    }
    client &operator=(client &&other) noexcept
    {
        std::swap(fd, other.fd);
        pending.swap(other.pending);
        return *this;
    }
    ~client()
    {
        hang_up();
    }
    void hang_up()
    {
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    // Closes with a reset, which leaves nothing behind.
    void reset()
    {
        linger now{1, 0};

        if (fd >= 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        hang_up();
    }

    // False when the server has closed.
    bool put(const std::string &text) const
    {
        for (size_t sent = 0; sent < text.size();) {
            ssize_t n =
                fd < 0 ? -1
                       : send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (n <= 0)
                return false;
            sent += (size_t)n;
        }
        return true;
    }
    // More bytes within the time; false: closed, or none came.
    bool more(double limit_s)
    {
        static thread_local char buffer[65536];
        pollfd p{fd, POLLIN, 0};

        if (fd < 0 || poll(&p, 1, (int)(limit_s * 1e3)) <= 0)
            return false;
        ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
        if (n > 0)
            pending.append(buffer, (size_t)n);
        return n > 0;
    }
    // `head`: the answer to HEAD has no body, whatever its length.
    answer get(double limit_s = 60, bool head = false)
    {
        answer result;
        size_t end;

        while ((end = pending.find("\r\n\r\n")) == std::string::npos)
            if (!more(limit_s))
                return result;
        result.header = pending.substr(0, end + 2);
        int status = atoi(result.header.c_str() + 9);
        size_t length =
            head ? 0 : strtoull(result.field("Content-Length").c_str(), nullptr, 10);
        pending.erase(0, end + 4);
        if (status == 100)
            return get(limit_s, head);
        while (pending.size() < length)
            if (!more(limit_s))
                return answer(); // half an answer is none
        result.status = status;
        result.body = pending.substr(0, length);
        pending.erase(0, length);
        return result;
    }
    // Whether the server closes within the time; what it still says is thrown away.
    bool is_closed(double limit_s)
    {
        double end_s = now_s() + limit_s;

        while (now_s() < end_s) {
            pollfd p{fd, POLLIN, 0};
            char buffer[4096];
            int wait_ms = (int)std::min(20.0, limit_s * 1e3);
            if (fd < 0 ||
                (poll(&p, 1, wait_ms) > 0 && recv(fd, buffer, sizeof(buffer), 0) <= 0))
                return true;
        }
        return false;
    }
    // The answer is as the description says, whatever was asked.
    answer call(const std::string &request, double limit_s = 60)
    {
        answer a = put(request) ? get(limit_s) : answer();
        size_t method = request.find(' ');
        size_t path =
            method == std::string::npos ? method : request.find(' ', method + 1);

        if (a.status && path != std::string::npos &&
            a.field("Content-Encoding").empty()) {
            std::string mistakes = broken_promises(
                request.substr(0, method), request.substr(method + 1, path - method - 1),
                a.status, [&](const std::string &name) { return a.field(name); }, a.body);
            if (!mistakes.empty()) // an exception: threads call too, Catch is for one
                throw std::runtime_error(request.substr(0, 500) + "\n" + mistakes);
        }
        return a;
    }
};
