// db_proxy.hpp - a way to the test's PostgreSQL that loses answers to COMMIT.
#pragma once
#include "tests/database.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum class commit_fate {
    answer_is_lost, // done, and nobody is told
    is_lost,        // never arrives
    is_late         // arrives when the one who sent it has been cut off
};

// Listens on a socket in a folder of its own. The fate befalls one COMMIT only.
class db_proxy
{
  public:
    db_proxy() : folder_("/tmp/gridplan-proxy.XXXXXX")
    {
        std::string base = test_database_url();
        size_t host = base.find("host=") + 5;
        size_t end = std::min(base.find('&', host), base.size());

        REQUIRE(mkdtemp(folder_.data()));
        server_ = base.substr(host, end - host) + name();
        url = base.substr(0, host) + folder_ + base.substr(end);
        listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un at = address(folder_ + name());
        REQUIRE(bind(listener_, (const sockaddr *)&at, sizeof(at)) == 0);
        REQUIRE(listen(listener_, 16) == 0);
        threads_.emplace_back([this] { accept_all(); });
    }
    ~db_proxy()
    {
        stopping_ = true;
        threads_.front().join();
        for (size_t i = 1; i < threads_.size(); i++)
            threads_[i].join();
        close(listener_);
        unlink((folder_ + name()).c_str());
        rmdir(folder_.c_str());
    }
    db_proxy(const db_proxy &) = delete;
    db_proxy &operator=(const db_proxy &) = delete;

    std::string url;

    // Of the `number`th COMMIT from now on, counted from 1.
    void next(commit_fate fate, int number = 1)
    {
        next(fate, std::string("Q\0\0\0\013COMMIT", 12), number);
    }
    // Of what is sent with these bytes in it.
    void next(commit_fate fate, const std::string &bytes, int number)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        fate_ = fate;
        bytes_ = bytes;
        left_ = number;
    }
    bool has_struck() const
    {
        return left_ <= 0;
    }

  private:
    static const char *name()
    {
        return "/.s.PGSQL.5432";
    }
    static sockaddr_un address(const std::string &path)
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        strncpy(at.sun_path, path.c_str(), sizeof(at.sun_path) - 1);
        return at;
    }
    static bool can_read(int fd, int wait_ms)
    {
        pollfd p{fd, POLLIN, 0};
        return poll(&p, 1, wait_ms) > 0;
    }
    // Passes on what is there; false: the end.
    static bool pass(int to, const char *data, ssize_t length)
    {
        return length > 0 && write(to, data, (size_t)length) == length;
    }
    void accept_all()
    {
        while (!stopping_) {
            if (!can_read(listener_, 20))
                continue;
            int client = accept(listener_, nullptr, nullptr);
            int server = socket(AF_UNIX, SOCK_STREAM, 0);
            sockaddr_un at = address(server_);
            if (connect(server, (const sockaddr *)&at, sizeof(at)) != 0)
                close(server), close(client);
            else
                threads_.emplace_back([this, client, server] { serve(client, server); });
        }
    }
    void serve(int client, int server)
    {
        char data[65536];
        for (bool goes_on = true; goes_on && !stopping_;) {
            pollfd p[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
            if (poll(p, 2, 20) <= 0)
                continue;
            if (p[1].revents)
                goes_on = pass(client, data, read(server, data, sizeof(data)));
            if (goes_on && p[0].revents) {
                ssize_t length = read(client, data, sizeof(data));
                goes_on = is_struck(data, length) ? strike(client, server, data, length)
                                                  : pass(server, data, length);
            }
        }
        close(client);
        close(server);
    }
    bool is_struck(const char *data, ssize_t length)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        return length > 0 && memmem(data, (size_t)length, bytes_.data(), bytes_.size()) &&
               --left_ == 0;
    }
    bool strike(int client, int server, const char *data, ssize_t length)
    {
        char answer[4096];
        if (fate_ == commit_fate::is_late) {
            shutdown(client, SHUT_RDWR);
            usleep(300000);
        }
        if (fate_ != commit_fate::is_lost && pass(server, data, length) &&
            can_read(server, 5000))
            (void)!read(server, answer, sizeof(answer));
        return false;
    }

    std::string folder_, server_;
    int listener_;
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;
    std::atomic<commit_fate> fate_{commit_fate::is_lost};
    std::string bytes_ = "-";
    std::atomic<int> left_{0};
    std::vector<std::thread> threads_;
};
