/* expr_print.c - clauses in a form of their own, so that equal ones are equal texts. */
#include "models/expr_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A text that grows; each byte of an expression becomes two at most, and a number that is
 * written with few bytes some more: what has no room is left out. */
struct printed {
    char text[2 * EXPR_BYTES_MAX];
    size_t used;
};

static void put(struct printed *p, const char *text, size_t length)
{
    if (p->used + length >= sizeof(p->text))
        length = sizeof(p->text) - 1 - p->used;
    memcpy(p->text + p->used, text, length);
    p->used += length;
}

static void put_word(struct printed *p, const char *text)
{
    put(p, text, strlen(text));
}

static void put_number(struct printed *p, double number)
{
    char text[32];

    snprintf(text, sizeof(text), "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, sizeof(text), "%.17g", number);
    put_word(p, text);
}

static void put_text(struct printed *p, const char *text)
{
    put_word(p, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put_word(p, "\\");
        put(p, text, 1);
    }
    put_word(p, "\"");
}

/* In lower case, and what an alias stands for. */
static void put_name(struct printed *p, const char *source, size_t length)
{
    size_t from = p->used;

    for (int i = 0; i < EXPR_ATTRIBUTE; i++) {
        const char *alias = expr_derived_names[i].alias;

        if (alias && strlen(alias) == length && strncasecmp(alias, source, length) == 0) {
            put_word(p, expr_derived_names[i].name);
            return;
        }
    }
    put(p, source, length);
    for (size_t i = from; i < p->used; i++)
        if (p->text[i] >= 'A' && p->text[i] <= 'Z')
            p->text[i] = (char)(p->text[i] - 'A' + 'a');
}

/* `name op constant`, whichever way round it was written. */
static void put_test(struct printed *p, const struct expr *e, const struct expr_op *op)
{
    static const char *const native[] = {"", "<", "==", "<=", ">", "!=", ">="};
    bool plain = op->integer && op->how == ORDER_EQUAL; /* of the gridway dialect */

    put_word(p, e->names[op->at].name);
    put_word(p, " ");
    put_word(p, plain ? "=" : native[op->how]);
    put_word(p, " ");
    if (op->value.type == VALUE_TEXT)
        put_text(p, op->value.text);
    else
        put_number(p, op->value.number);
}

static bool opens(enum expr_token_kind kind)
{
    return kind == TOKEN_OPEN || kind == TOKEN_OPEN_LIST;
}

static bool ends_value(enum expr_token_kind kind)
{
    return kind == TOKEN_NUMBER || kind == TOKEN_TEXT || kind == TOKEN_NAME ||
           kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_LIST;
}

static bool is_prefix(enum expr_token_kind kind, enum expr_token_kind before)
{
    return kind == TOKEN_NOT ||
           ((kind == TOKEN_MINUS || kind == TOKEN_PLUS) && !ends_value(before));
}

/* Whether the clause is one pair of brackets with something in it. */
static bool in_brackets(struct expr_lexer lex)
{
    size_t depth = 0;

    if (expr_lex(&lex) != OK || lex.token.kind != TOKEN_OPEN)
        return false;
    do {
        depth += lex.token.kind == TOKEN_OPEN;
        depth -= lex.token.kind == TOKEN_CLOSE;
        if (expr_lex(&lex) != OK)
            return false;
    } while (depth > 0 && lex.token.kind != TOKEN_END);
    return lex.token.kind == TOKEN_END;
}

static void put_token(struct printed *p, const struct expr_lexer *lex)
{
    const struct expr_token *token = &lex->token;

    if (token->kind == TOKEN_NUMBER)
        put_number(p, token->number);
    else if (token->kind == TOKEN_TEXT)
        put_text(p, token->text);
    else if (token->kind == TOKEN_NAME)
        put_name(p, lex->source + token->at, token->length);
    else
        put(p, lex->source + token->at, token->length);
}

/* Word by word, with one space between what is not in brackets. */
static void put_tokens(struct printed *p, struct expr_lexer *lex)
{
    enum expr_token_kind last = TOKEN_END;
    bool prefix = true; /* nothing goes between what was put and what follows */

    while (expr_lex(lex) == OK && lex->token.kind != TOKEN_END) {
        enum expr_token_kind kind = lex->token.kind;
        bool close = kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_LIST ||
                     kind == TOKEN_COMMA || kind == TOKEN_SEMICOLON;

        if (!prefix && !close && !(kind == TOKEN_OPEN && last == TOKEN_NAME))
            put_word(p, " ");
        put_token(p, lex);
        prefix = opens(kind) || is_prefix(kind, last);
        last = kind;
    }
}

const char *expr_clause_canonical(const struct expr *e, size_t index,
                                  enum expr_dialect dialect, struct arena *a)
{
    const struct expr_clause *clause = &e->clauses[index];
    struct error ignored = {0};
    struct expr_lexer lex = {.source = clause->text,
                             .pointer = "",
                             .dialect = dialect,
                             .arena = a,
                             .err = &ignored};
    struct printed p = {.used = 0};

    if (clause->op_count == 1 && clause->ops[0].code == OP_TEST) {
        put_test(&p, e, &clause->ops[0]);
        return arena_text(a, p.text, p.used);
    }
    while (in_brackets(lex)) {
        const char *open = strchr(lex.source, '('), *close = strrchr(open, ')');

        lex.source = arena_text(a, open + 1, (size_t)(close - open) - 1);
    }
    put_tokens(&p, &lex);
    return arena_text(a, p.text, p.used);
}
