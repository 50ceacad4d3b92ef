/* hash.c - SHA-256 and base64 by libcrypto, and base64url. */
#include "service/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>

void hash_sha256(const void *data, size_t length, unsigned char *digest)
{
    SHA256(data, length, digest);
}

bool hash_sha256_parts(const struct hash_part *parts, size_t count, unsigned char *digest)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL);

    for (size_t i = 0; done && i < count; i++)
        done = EVP_DigestUpdate(context, parts[i].data, parts[i].length);
    done = done && EVP_DigestFinal_ex(context, digest, NULL);
    EVP_MD_CTX_free(context);
    return done;
}

/* It is libcrypto's. */
static void close_stream(struct hash_stream *h)
{
    EVP_MD_CTX_free(h->context);
    h->context = NULL;
}

struct hash_stream hash_stream_open(void)
{
    struct hash_stream h = {EVP_MD_CTX_new()};

    if (h.context && !EVP_DigestInit_ex(h.context, EVP_sha256(), NULL))
        close_stream(&h);
    return h;
}

void hash_stream_add(struct hash_stream *h, const void *data, size_t length)
{
    if (h->context && !EVP_DigestUpdate(h->context, data, length))
        close_stream(h);
}

enum error_code hash_stream_end(struct hash_stream *h, enum error_code code,
                                unsigned char *digest, struct error *err)
{
    bool done = code == OK && h->context && EVP_DigestFinal_ex(h->context, digest, NULL);

    close_stream(h);
    return done || code != OK ? code : fail_memory(err);
}

void hash_hex(const unsigned char *digest, char *hex)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[2 * SHA256_BYTES] = '\0';
}

void hash_sha256_hex(const void *data, size_t length, char *hex)
{
    unsigned char digest[SHA256_BYTES];

    hash_sha256(data, length, digest);
    hash_hex(digest, hex);
}

bool hash_equal(const void *a, const void *b, size_t length)
{
    return CRYPTO_memcmp(a, b, length) == 0;
}

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char *base64url_encode(const void *data, size_t length, struct arena *a)
{
    const unsigned char *from = data;
    char *text = TRY_NEW(a, char, length / 3 * 4 + 5);
    char *to = text;

    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned bits = (unsigned)from[i] << 16;

        if (left > 1)
            bits |= (unsigned)from[i + 1] << 8;
        if (left > 2)
            bits |= from[i + 2];
        *to++ = alphabet[bits >> 18];
        *to++ = alphabet[(bits >> 12) & 63];
        if (left > 1)
            *to++ = alphabet[(bits >> 6) & 63];
        if (left > 2)
            *to++ = alphabet[bits & 63];
    }
    return text;
}

char *base64_encode(const void *data, size_t length, struct arena *a)
{
    unsigned char *text = NEW(a, unsigned char, length / 3 * 4 + 5);

    EVP_EncodeBlock(text, data, (int)length);
    return (char *)text;
}

unsigned char *base64url_decode(const char *text, size_t *length, struct arena *a)
{
    size_t count = strlen(text);
    unsigned char *data;
    size_t used = 0;
    unsigned bits = 0;

    if (count % 4 == 1)
        return NULL;
    data = TRY_NEW(a, unsigned char, count / 4 * 3 + 3);
    if (!data)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *found = strchr(alphabet, text[i]);

        if (!found)
            return NULL;
        bits = (bits << 6 | (unsigned)(found - alphabet)) & 0xffffff;
        if (i % 4 == 1)
            data[used++] = (unsigned char)(bits >> 4 & 255);
        else if (i % 4 == 2)
            data[used++] = (unsigned char)(bits >> 2 & 255);
        else if (i % 4 == 3)
            data[used++] = (unsigned char)(bits & 255);
    }
    *length = used;
    return data;
}
