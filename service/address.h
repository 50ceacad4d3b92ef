/* address.h - who is at the other end: addresses, networks, X-Forwarded-For.
 *
 * Pure functions on numeric addresses; nothing here asks a name server. An IPv4
 * address is kept as its IPv4-mapped IPv6 address, so that 10.0.0.1 is the same
 * however it came.
 */
#ifndef GRIDPLAN_ADDRESS_H
#define GRIDPLAN_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

struct address {
    unsigned char bytes[16];
};

enum {
    ADDRESS_TEXT_SIZE = 50,    /* the longest IPv6 address, "/64", and the NUL */
    NETWORKS_MAX = 64,         /* of a list */
    FORWARDED_ENTRIES_MAX = 32 /* of X-Forwarded-For, from the right */
};

struct network {
    struct address base;
    unsigned prefix_bits; /* of 128; of an IPv4 network at least 96 */
};

struct network_list {
    struct network items[NETWORKS_MAX];
    size_t count;
};

/* A numeric address of `length` bytes, without port or brackets. */
bool address_read(const char *text, size_t length, struct address *out);

/* The address of a socket; false: neither IPv4 nor IPv6. */
bool address_of_socket(const struct sockaddr *socket, struct address *out);

/* The address as text, of an IPv6 one its /64: what limits count by, because one
 * client has all addresses of a /64. `text` has ADDRESS_TEXT_SIZE bytes; returned. */
const char *address_owner(const struct address *address, char *text);

/* Reads networks ("10.0.0.0/8", "2001:db8::/32"; without a prefix one address)
 * separated by commas or blanks. The length of the first entry that is none, which
 * *bad points to; 0: all are. One too many counts as bad. */
size_t network_list_read(const char *text, struct network_list *list, const char **bad);

bool network_list_has(const struct network_list *list, const struct address *address);

/* The client behind a peer: the peer, unless it is trusted; then the first address
 * from the right of X-Forwarded-For (NULL: none; several lines joined by commas) that
 * is not trusted; when all are, the leftmost. An entry that is no address, after
 * "[...]" and ":port" are taken off, ends the walk: the last good one counts. */
void address_client(const struct network_list *trusted, const struct address *peer,
                    const char *forwarded_for, struct address *client);

#endif
