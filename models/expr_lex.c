/* expr_lex.c - the words of an expression. */
#include "models/expr_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spelling {
    const char *text;
    enum expr_token_kind kind;
};

/* Of two that begin alike the longer one comes first. */
static const struct spelling native_operators[] = {
    {"||", TOKEN_OR},      {"&&", TOKEN_AND},        {"==", TOKEN_EQUAL},
    {"!=", TOKEN_UNEQUAL}, {"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_GREATER_EQUAL},
    {"<", TOKEN_LESS},     {">", TOKEN_GREATER},     {"!", TOKEN_NOT},
    {"+", TOKEN_PLUS},     {"-", TOKEN_MINUS},       {"*", TOKEN_TIMES},
    {"/", TOKEN_DIVIDE},   {"%", TOKEN_REMAINDER},   {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},    {"{", TOKEN_OPEN_LIST},   {"}", TOKEN_CLOSE_LIST},
    {",", TOKEN_COMMA},    {NULL, TOKEN_END},
};

static const struct spelling gridway_operators[] = {
    {"!=", TOKEN_UNEQUAL}, {"|", TOKEN_OR},        {"&", TOKEN_AND},
    {"=", TOKEN_EQUAL},    {"<", TOKEN_LESS},      {">", TOKEN_GREATER},
    {"!", TOKEN_NOT},      {"+", TOKEN_PLUS},      {"-", TOKEN_MINUS},
    {"*", TOKEN_TIMES},    {"/", TOKEN_DIVIDE},    {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},    {";", TOKEN_SEMICOLON}, {NULL, TOKEN_END},
};

/* ASCII whatever the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool continues_name(char c)
{
    return starts_name(c) || is_digit(c) || c == '.';
}

enum error_code expr_mistake(struct expr_lexer *lex, size_t at, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return invalid(lex->err, lex->pointer, ITEM_EXPRESSION, "column %zu: %s", at + 1,
                   text);
}

static const char *digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* End of the JSON number (without a sign) at `start`; NULL: it is none. */
static const char *number_end(const char *start)
{
    const char *p = *start == '0' ? start + 1 : digits(start);
    const char *mark;

    if (*p == '.') {
        mark = p + 1;
        p = digits(mark);
        if (p == mark)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        mark = p + 1;
        if (*mark == '+' || *mark == '-')
            mark++;
        p = digits(mark);
        if (p == mark)
            return NULL;
    }
    return continues_name(*p) ? NULL : p;
}

static enum error_code lex_number(struct expr_lexer *lex, struct expr_token *token)
{
    const char *start = lex->source + token->at;
    const char *end = number_end(start);
    char text[EXPR_BYTES_MAX + 1];

    if (!end)
        return expr_mistake(lex, token->at,
                            "not a number as in JSON, like 12 or 0.5 or 1e6");
    token->kind = TOKEN_NUMBER;
    token->length = (size_t)(end - start);
    if (lex->dialect == EXPR_GRIDWAY && digits(start) != end)
        return expr_mistake(lex, token->at, "the gridway dialect has integers only");
    memcpy(text, start, token->length);
    text[token->length] = '\0';
    token->number = strtod(text, NULL);
    if (!__builtin_isfinite(token->number))
        return expr_mistake(lex, token->at, "the number is too large");
    return OK;
}

static enum error_code lex_text(struct expr_lexer *lex, struct expr_token *token)
{
    const char *start = lex->source + token->at;
    const char *p = start + 1;
    size_t length = 0;
    char *text;

    for (; *p && *p != '"'; p++, length++) {
        if (*p != '\\')
            continue;
        if (p[1] != '"' && p[1] != '\\')
            return expr_mistake(lex, (size_t)(p - lex->source),
                                "in a string \\ stands only before \" or \\");
        p++;
    }
    if (!*p)
        return expr_mistake(lex, token->at, "this string has no closing quote");
    token->kind = TOKEN_TEXT;
    token->length = (size_t)(p + 1 - start);
    text = NEW(lex->arena, char, length + 1);
    p = start + 1;
    for (size_t i = 0; i < length; i++, p++) {
        if (*p == '\\')
            p++;
        text[i] = *p;
    }
    token->text = text;
    return OK;
}

static enum error_code lex_operator(struct expr_lexer *lex, struct expr_token *token)
{
    const struct spelling *op =
        lex->dialect == EXPR_GRIDWAY ? gridway_operators : native_operators;
    const char *start = lex->source + token->at;

    for (; op->text; op++) {
        token->length = strlen(op->text);
        token->kind = op->kind;
        if (strncmp(start, op->text, token->length) == 0)
            return OK;
    }
    if (*start == '=')
        return expr_mistake(lex, token->at, "use == to compare");
    if (*start == '&' || *start == '|')
        return expr_mistake(lex, token->at, "use %c%c", *start, *start);
    if (*start > ' ' && *start <= '~')
        return expr_mistake(lex, token->at, "unexpected character '%c'", *start);
    return expr_mistake(lex, token->at, "unexpected byte 0x%02x", (unsigned char)*start);
}

enum error_code expr_lex(struct expr_lexer *lex)
{
    struct expr_token token = {.kind = TOKEN_END};
    const char *start;

    lex->last_end = lex->token.at + lex->token.length;
    token.at = lex->next + strspn(lex->source + lex->next, " \t\r\n");
    start = lex->source + token.at;
    if (is_digit(*start)) {
        TRY(lex_number(lex, &token));
    } else if (starts_name(*start)) {
        token.kind = TOKEN_NAME;
        while (continues_name(start[token.length]))
            token.length++;
    } else if (*start == '"') {
        TRY(lex_text(lex, &token));
    } else if (*start) {
        TRY(lex_operator(lex, &token));
    }
    lex->token = token;
    lex->next = token.at + token.length;
    return OK;
}
