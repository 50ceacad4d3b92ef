/* expr_internal.h - what expr.c, expr_parse.c, expr_lex.c and expr_regex.c share.
 *
 * A program is a flat list of operations on a stack of values, in the order of a
 * postfix notation. Operations that skip only ever go forward, and never out of
 * the clause they are in, so that a clause is a program too.
 */
#ifndef GRIDPLAN_EXPR_INTERNAL_H
#define GRIDPLAN_EXPR_INTERNAL_H

#include "models/expr.h"

#include <stdint.h>

/* A comparison is the set of orders (of left to right) for which it holds. */
enum { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4 };

enum expr_code {
    OP_LITERAL,        /* push op.value */
    OP_NAME,           /* push values[op.at] */
    OP_TEST,           /* push: values[op.at] compared with op.value */
    OP_COMPARE,        /* pop b, pop a, push: a compared with b */
    OP_NEGATE,         /* the number -a */
    OP_PLUS,           /* the number a */
    OP_MATH1,          /* the number op.math1(a) */
    OP_MATH2,          /* pop b, pop a, push the number op.math2(a, b) */
    OP_NOT,            /* three-valued */
    OP_SKIP_FALSE,     /* keep a; if it is false skip op.at operations */
    OP_SKIP_TRUE,      /* likewise, if it is true */
    OP_AND,            /* pop b, pop a, push a && b, three-valued */
    OP_OR,             /* likewise a || b */
    OP_SKIP_UNDEFINED, /* if a is not a boolean make it undefined and skip */
    OP_POP_SKIP_FALSE, /* pop a; if it is false skip */
    OP_SKIP,           /* skip op.at operations */
    OP_IS_UNDEFINED,
    OP_REGEX,        /* does op.regex match text a */
    OP_GLOB,         /* does the shell pattern op.value match text a: `how` holds for
                        ORDER_EQUAL if it does, for ORDER_LESS if not */
    OP_MEMBER_FIRST, /* pop b, keep x, push x == b */
    OP_MEMBER_NEXT,  /* pop b, pop r, keep x, push r || x == b */
    OP_MEMBER_END,   /* pop r, pop x, push r */
};

/* Values on the stack at once. A level of nesting holds one left operand for each
 * of || && == + *, and two values of a list: 7 in each of EXPR_DEPTH_MAX + 1. */
enum { EXPR_STACK_MAX = 7 * (EXPR_DEPTH_MAX + 1) };

struct expr_regex;

struct expr_op {
    uint8_t code; /* enum expr_code */
    uint8_t how;  /* OP_TEST, OP_COMPARE, OP_GLOB: set of orders */
    bool integer; /* OP_NAME, OP_TEST: drop the fraction of the name's value */
    uint32_t at;  /* a slot, or how many operations to skip */
    union {
        struct expr_value value;
        double (*math1)(double);
        double (*math2)(double, double);
        const struct expr_regex *regex;
    };
};

enum expr_token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_TEXT,
    TOKEN_NAME,
    TOKEN_OR,
    TOKEN_AND,
    TOKEN_NOT,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DIVIDE,
    TOKEN_REMAINDER,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_LIST,
    TOKEN_CLOSE_LIST,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
};

struct expr_token {
    enum expr_token_kind kind;
    size_t at;        /* its first byte, from 0 */
    size_t length;    /* bytes in the source */
    double number;    /* TOKEN_NUMBER */
    const char *text; /* TOKEN_TEXT: what it stands for */
};

struct expr_lexer {
    const char *source;
    const char *pointer; /* JSON pointer for mistakes */
    enum expr_dialect dialect;
    size_t next;             /* where to look for the next token */
    size_t last_end;         /* behind the token before `token` */
    struct expr_token token; /* read, not yet used */
    struct arena *arena;
    struct error *err;
};

/* Reads the next token. */
enum error_code expr_lex(struct expr_lexer *lex);

/* Reports a mistake at byte `at`, from 0. */
enum error_code expr_mistake(struct expr_lexer *lex, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compiles a POSIX extended regular expression of at most EXPR_PATTERN_MAX bytes.
 * NULL and *out; or else what is wrong with it. */
const char *expr_regex_compile(const char *pattern, const struct expr_regex **out,
                               struct arena *a);

/* Does some part of the text match? Allocates nothing. */
bool expr_regex_match(const struct expr_regex *regex, const char *text, size_t length);

/* The first part of the text, from byte `begin` on, that matches, and of those that begin
 * there the longest: [*from, *to). False: there is none. O(length^2) steps of a match. */
bool expr_regex_find(const struct expr_regex *regex, const char *text, size_t length,
                     size_t begin, size_t *from, size_t *to);

#endif
