/* base/spelling.c - how names are spelt here. */
#include "models/base/spelling.h"

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool ends_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool name_spell(const char *name, size_t length, char *spelling, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        bool begins = is_capital(name[i]) && i > 0 && ends_word(name[i - 1]);

        if (used + begins + 2 > size)
            return false;
        if (begins)
            spelling[used++] = '_';
        spelling[used++] = name[i] == '-' || name[i] == ' ' ? '_'
                           : is_capital(name[i])            ? (char)(name[i] | 0x20)
                                                            : name[i];
    }
    spelling[used] = 0;
    return true;
}
