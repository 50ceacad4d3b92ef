/* address.c - who is at the other end: addresses, networks, X-Forwarded-For. */
#include "service/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MAPPED_BITS = 96, PORT_DIGITS_MAX = 5 };

static const unsigned char mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_v4(const struct address *address)
{
    return memcmp(address->bytes, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

static void set_v4(struct address *out, const void *four_bytes)
{
    memcpy(out->bytes, mapped_prefix, sizeof(mapped_prefix));
    memcpy(out->bytes + sizeof(mapped_prefix), four_bytes, 4);
}

bool address_read(const char *text, size_t length, struct address *out)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr v4;

    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET, copy, &v4) == 1) {
        set_v4(out, &v4);
        return true;
    }
    return inet_pton(AF_INET6, copy, out->bytes) == 1;
}

bool address_of_socket(const struct sockaddr *socket, struct address *out)
{
    if (socket->sa_family == AF_INET)
        set_v4(out, &((const struct sockaddr_in *)socket)->sin_addr);
    else if (socket->sa_family == AF_INET6)
        memcpy(out->bytes, &((const struct sockaddr_in6 *)socket)->sin6_addr, 16);
    else
        return false;
    return true;
}

const char *address_owner(const struct address *address, char *text)
{
    struct address net = *address;

    if (is_v4(address)) {
        inet_ntop(AF_INET, address->bytes + sizeof(mapped_prefix), text,
                  ADDRESS_TEXT_SIZE);
        return text;
    }
    memset(net.bytes + 8, 0, 8);
    inet_ntop(AF_INET6, net.bytes, text, ADDRESS_TEXT_SIZE);
    return strcat(text, "/64");
}

/* ---- networks ---- */

/* Digits only, at most `most`. */
static bool read_bits(const char *text, size_t length, unsigned most, unsigned *bits)
{
    *bits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *bits = *bits * 10 + (unsigned)(text[i] - '0');
        if (*bits > most)
            return false;
    }
    return length > 0;
}

static bool network_read(const char *text, size_t length, struct network *out)
{
    const char *slash = memchr(text, '/', length);
    size_t address_length = slash ? (size_t)(slash - text) : length;
    unsigned offset, bits;

    if (!address_read(text, address_length, &out->base))
        return false;
    offset = is_v4(&out->base) && !memchr(text, ':', address_length) ? MAPPED_BITS : 0;
    bits = 128 - offset;
    if (slash && !read_bits(slash + 1, length - address_length - 1, bits, &bits))
        return false;
    out->prefix_bits = offset + bits;
    return true;
}

size_t network_list_read(const char *text, struct network_list *list, const char **bad)
{
    list->count = 0;
    for (const char *p = text; *p;) {
        size_t length;

        p += strspn(p, ", ");
        length = strcspn(p, ", ");
        if (length && (list->count == NETWORKS_MAX ||
                       !network_read(p, length, &list->items[list->count++]))) {
            *bad = p;
            return length;
        }
        p += length;
    }
    return 0;
}

static bool is_in(const struct network *network, const struct address *address)
{
    size_t whole = network->prefix_bits / 8;
    unsigned rest = network->prefix_bits % 8;

    if (memcmp(network->base.bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 ||
           (network->base.bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

bool network_list_has(const struct network_list *list, const struct address *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_in(&list->items[i], address))
            return true;
    return false;
}

/* ---- X-Forwarded-For ---- */

static bool is_port(const char *text, size_t length)
{
    unsigned port;

    return length <= PORT_DIGITS_MAX && read_bits(text, length, 65535, &port);
}

/* "10.0.0.1", "10.0.0.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443" */
static bool read_entry(const char *text, size_t length, struct address *out)
{
    const char *end = text + length, *colon, *bracket;

    if (length && *text == '[') {
        bracket = memchr(text, ']', length);
        if (!bracket ||
            (bracket + 1 < end &&
             (bracket[1] != ':' || !is_port(bracket + 2, (size_t)(end - bracket - 2)))))
            return false;
        return address_read(text + 1, (size_t)(bracket - text - 1), out) &&
               memchr(text, ':', (size_t)(bracket - text));
    }
    colon = memchr(text, ':', length);
    if (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
        if (!is_port(colon + 1, (size_t)(end - colon - 1)))
            return false;
        end = colon;
    }
    return address_read(text, (size_t)(end - text), out);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The text from *from to *to without blanks around it; its length. */
static size_t trim(const char **from, const char *to)
{
    while (*from < to && is_blank(**from))
        (*from)++;
    while (to > *from && is_blank(to[-1]))
        to--;
    return (size_t)(to - *from);
}

void address_client(const struct network_list *trusted, const struct address *peer,
                    const char *forwarded_for, struct address *client)
{
    const char *end = forwarded_for ? forwarded_for + strlen(forwarded_for) : NULL;
    struct address entry;

    *client = *peer;
    if (!end)
        return;
    for (int i = 0; i < FORWARDED_ENTRIES_MAX && network_list_has(trusted, client); i++) {
        const char *from = end, *stop = end;
        size_t length;

        while (from > forwarded_for && from[-1] != ',')
            from--;
        end = from > forwarded_for ? from - 1 : NULL;
        length = trim(&from, stop);
        if (length > 0) { /* a list may have empty entries */
            if (!read_entry(from, length, &entry))
                return;
            *client = entry;
        }
        if (!end)
            return;
    }
}
