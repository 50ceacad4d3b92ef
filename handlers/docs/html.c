/* html.c - HTML from texts. */
#include "handlers/docs/html.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

void html_text(struct text_buffer *b, const char *text, size_t length)
{
    static const struct {
        char c;
        const char *entity;
    } escapes[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    size_t from = 0;

    for (size_t i = 0; i < length; i++)
        for (size_t k = 0; k < sizeof(escapes) / sizeof(escapes[0]); k++)
            if (text[i] == escapes[k].c) {
                text_add(b, text + from, i - from);
                text_addf(b, "%s", escapes[k].entity);
                from = i + 1;
            }
    text_add(b, text + from, length - from);
}

/* A letter or digit as anchors have it; 0: neither. */
static char word_letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '\0';
}

void html_anchor(struct text_buffer *b, const char *text, size_t length)
{
    bool dash = false, any = false;

    for (size_t i = 0; i < length; i++) {
        char c = word_letter(text[i]);

        if (c) {
            text_addf(b, "%s%c", dash && any ? "-" : "", c);
            any = true;
        }
        dash = !c;
    }
    if (!any)
        text_add(b, "x", 1);
}

/* What a letter behind % stands for. */
static void add_value(struct text_buffer *b, char kind, va_list *values)
{
    const char *text = NULL;

    if (kind == 't' || kind == 'u' || kind == 'r')
        text = va_arg(*values, const char *);
    if (kind == 't' && text)
        html_text(b, text, strlen(text));
    else if (kind == 'u' && text)
        text_add_encoded(b, text, true);
    else if (kind == 'r' && text)
        text_add(b, text, strlen(text));
    else if (kind == 'z')
        text_addf(b, "%zu", va_arg(*values, size_t));
    else if (kind == 'g')
        json_print_number(va_arg(*values, double), b);
    else if (kind == '%')
        text_add(b, "%", 1);
}

void html_add(struct text_buffer *b, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    while (*format) {
        size_t plain = strcspn(format, "%");

        text_add(b, format, plain);
        format += plain;
        if (!*format)
            break;
        add_value(b, format[1], &values);
        format += format[1] ? 2 : 1;
    }
    va_end(values);
}
