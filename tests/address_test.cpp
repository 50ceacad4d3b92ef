// address_test.cpp - who the client behind a proxy is.
#include "support.hpp"

#include <random>
#include <string>

extern "C" {
#include "service/address.h"
}

static address address_from(const std::string &text)
{
    address a{};

    REQUIRE(address_read(text.c_str(), text.size(), &a));
    return a;
}

static std::string owner_of(const address &a)
{
    char text[ADDRESS_TEXT_SIZE];

    return address_owner(&a, text);
}

static network_list networks(const char *text)
{
    network_list list{};
    const char *bad = nullptr;

    REQUIRE(network_list_read(text, &list, &bad) == 0);
    return list;
}

TEST_CASE("the client is the first address from the right that is not trusted",
          "[service][address]")
{
    struct {
        const char *peer, *forwarded, *want;
    } cases[] = {
        {"10.0.0.1", "10.9.9.9, 203.0.113.7, 10.0.0.2", "203.0.113.7"},
        {"198.51.100.1", "10.9.9.9, 203.0.113.7, 10.0.0.2", "198.51.100.1"},
        {"10.0.0.1", "x, 10.0.0.2", "10.0.0.2"},
        {"10.0.0.1", "[2001:db8::1]:443, 10.0.0.2:80", "2001:db8::/64"},
        {"10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
        {"10.0.0.1", nullptr, "10.0.0.1"},
        {"10.0.0.1", "", "10.0.0.1"},
        {"10.0.0.1", "x", "10.0.0.1"},
        {"10.0.0.1", "203.0.113.7 ,\t, 10.0.0.2,", "203.0.113.7"},
        {"10.0.0.1", "[2001:db8::1]", "2001:db8::/64"},
        {"10.0.0.1", "2001:db8:0:1:2::1", "2001:db8:0:1::/64"},
        {"10.0.0.1", "203.0.113.7:http, 10.0.0.2", "10.0.0.2"},
        {"10.0.0.1", "203.0.113.7:99999", "10.0.0.1"},
        {"10.0.0.1", "[203.0.113.7]", "10.0.0.1"},
        {"10.0.0.1", "[2001:db8::1", "10.0.0.1"},
        {"10.0.0.1", "unknown", "10.0.0.1"},
        {"::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"}, // a socket of both families
        {"10.0.0.1", "::ffff:203.0.113.7", "203.0.113.7"},
    };
    network_list trusted = networks("10.0.0.0/24");

    for (auto &c : cases)
        DYNAMIC_SECTION(c.peer << " for " << (c.forwarded ? c.forwarded : "nobody"))
        {
            address peer = address_from(c.peer), client{};
            address_client(&trusted, &peer, c.forwarded, &client);
            CHECK(owner_of(client) == c.want);
        }
    // the whole address, not only what limits count by
    address peer = address_from("10.0.0.1"), client{};
    address_client(&trusted, &peer, "[2001:db8::1]:443, 10.0.0.2:80", &client);
    CHECK(memcmp(client.bytes, address_from("2001:db8::1").bytes, 16) == 0);
}

TEST_CASE("of a long X-Forwarded-For the last 32 entries are read", "[service][address]")
{
    network_list trusted = networks("10.0.0.0/8");
    address peer = address_from("10.0.0.1"), client{};
    std::string list = "203.0.113.7, 10.1.0.32";

    for (int i = 31; i > 0; i--)
        list += ", 10.1.0." + std::to_string(i);
    address_client(&trusted, &peer, list.c_str(), &client);
    CHECK(owner_of(client) == "10.1.0.32");
    list.erase(list.rfind(','));
    address_client(&trusted, &peer, list.c_str(), &client);
    CHECK(owner_of(client) == "203.0.113.7");
}

TEST_CASE("networks are read, or the entry that is none is named", "[service][address]")
{
    struct {
        const char *list, *bad; // "": all good
    } cases[] = {
        {"", ""},
        {" , ", ""},
        {"10.0.0.0/8,2001:db8::/32 192.0.2.1", ""},
        {"0.0.0.0/0, ::/0", ""},
        {"10.0.0.0/33", "10.0.0.0/33"},
        {"10.0.0.1, 2001:db8::/129", "2001:db8::/129"},
        {"10.0.0.0/", "10.0.0.0/"},
        {"10.0.0.0/-1", "10.0.0.0/-1"},
        {"10.0.0.0/4294967304", "10.0.0.0/4294967304"},
        {"proxy.example", "proxy.example"},
        {"10.0.0", "10.0.0"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.list)
        {
            network_list list{};
            const char *bad = "";
            size_t length = network_list_read(c.list, &list, &bad);
            CHECK(std::string(bad, length) == c.bad);
        }
    std::string many = "10.0.0.0/8";
    network_list list{};
    const char *bad = nullptr;
    for (int i = 1; i < NETWORKS_MAX; i++)
        many += ",10.0.0.0/8";
    CHECK(network_list_read(many.c_str(), &list, &bad) == 0);
    CHECK(network_list_read((many + ",10.0.0.0/8").c_str(), &list, &bad) > 0);
}

TEST_CASE("membership in a network agrees with the bits", "[service][address][property]")
{
    std::mt19937 random(7);

    for (int round = 0; round < 2000; round++) {
        unsigned base = random(), bits = random() % 33;
        unsigned other = random() % 2 ? random() : base ^ 1u << (random() % 32);
        auto text = [](unsigned v) {
            return std::to_string(v >> 24) + "." + std::to_string(v >> 16 & 255) + "." +
                   std::to_string(v >> 8 & 255) + "." + std::to_string(v & 255);
        };
        network_list list = networks((text(base) + "/" + std::to_string(bits)).c_str());
        address a = address_from(text(other));
        unsigned mask = bits == 0 ? 0 : ~0u << (32 - bits);
        INFO(text(base) << "/" << bits << " " << text(other));
        REQUIRE(network_list_has(&list, &a) == ((base & mask) == (other & mask)));
        REQUIRE(owner_of(a) == text(other));
    }
    network_list v4 = networks("0.0.0.0/0"), v6 = networks("2001:db8::/32");
    address six = address_from("2001:db8:ffff::1"), four = address_from("10.0.0.1");
    CHECK_FALSE(network_list_has(&v4, &six));
    CHECK(network_list_has(&v6, &six));
    CHECK_FALSE(network_list_has(&v6, &four));
}
