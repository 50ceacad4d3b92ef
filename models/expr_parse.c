/* expr_parse.c - from the text of an expression to its program.
 *
 * Recursive descent, one function per rule of the grammar of spec gridway.md 2.2;
 * each emits its operations behind those of its operands. Source of the gridway
 * dialect: the spec's last paragraph of 2.2 (requirements and ranks there have
 * grammars of their own).
 */
#include "models/base/names.h"
#include "models/expr_internal.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Where a clause is in the program and in the text. */
struct span {
    size_t first_op, op_count;
    size_t from, length;
};

struct parser {
    struct expr_lexer lex;
    struct expr_op *ops;
    struct expr_name *names;
    uint64_t *name_hashes;
    struct span *clauses;
    size_t op_count, op_room;
    size_t name_count, name_room;
    size_t clause_count, clause_room;
    size_t node_count, depth;
    size_t start; /* first byte that is not white space */
    enum error_code (*whole)(struct parser *p);
};

typedef enum error_code parse_fn(struct parser *p);

static enum error_code parse_or(struct parser *p);
static enum error_code parse_sum(struct parser *p);

/* Emitting. */

static void emit(struct parser *p, struct expr_op op)
{
    if (p->op_count == p->op_room) {
        size_t room = p->op_room ? p->op_room * 2 : 16;
        struct expr_op *ops =
            GROW(p->lex.arena, p->ops, struct expr_op, p->op_count, room);

        p->ops = ops;
        p->op_room = room;
    }
    p->ops[p->op_count++] = op;
}

static enum error_code emit_code(struct parser *p, enum expr_code code)
{
    emit(p, (struct expr_op){.code = (uint8_t)code});
    return OK;
}

static enum error_code emit_value(struct parser *p, struct expr_value value)
{
    emit(p, (struct expr_op){.code = OP_LITERAL, .value = value});
    return OK;
}

/* Lets the skip at `from` go to the operation that comes next. */
static void land(struct parser *p, size_t from)
{
    p->ops[from].at = (uint32_t)(p->op_count - 1 - from);
}

static enum error_code count_node(struct parser *p, size_t at)
{
    if (p->node_count == EXPR_NODES_MAX)
        return expr_mistake(&p->lex, at, "more than %d values and operators",
                            EXPR_NODES_MAX);
    p->node_count++;
    return OK;
}

/* Goes one level down at the next token; leave with p->depth--. */
static enum error_code enter(struct parser *p)
{
    if (p->depth == EXPR_DEPTH_MAX)
        return expr_mistake(&p->lex, p->lex.token.at, "nested deeper than %d levels",
                            EXPR_DEPTH_MAX);
    p->depth++;
    return OK;
}

/* Tokens. */

static bool at_token(const struct parser *p, enum expr_token_kind kind)
{
    return p->lex.token.kind == kind;
}

static enum error_code unexpected(struct parser *p, const char *wanted)
{
    const struct expr_token *token = &p->lex.token;
    int length = token->length > 40 ? 40 : (int)token->length;

    if (token->kind == TOKEN_END)
        return expr_mistake(&p->lex, token->at, "the text ends where %s should be",
                            wanted);
    if (token->kind == TOKEN_TEXT)
        return expr_mistake(&p->lex, token->at, "a string where %s should be", wanted);
    return expr_mistake(&p->lex, token->at, "'%.*s' where %s should be", length,
                        p->lex.source + token->at, wanted);
}

static enum error_code expect(struct parser *p, enum expr_token_kind kind,
                              const char *wanted)
{
    return at_token(p, kind) ? expr_lex(&p->lex) : unexpected(p, wanted);
}

/* Counts the operator that comes next and steps over it. */
static enum error_code take_operator(struct parser *p)
{
    TRY(count_node(p, p->lex.token.at));
    return expr_lex(&p->lex);
}

static bool token_is(const struct parser *p, const struct expr_token *token,
                     const char *word)
{
    return token->length == strlen(word) &&
           strncasecmp(p->lex.source + token->at, word, token->length) == 0;
}

/* Names. */

/* FNV-1a over lower case. */
static uint64_t hash_name(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 'A' && c <= 'Z')
            c = (unsigned char)(c - 'A' + 'a');
        hash = (hash ^ c) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void grow_names(struct parser *p)
{
    size_t room = p->name_room ? p->name_room * 2 : 8;
    struct expr_name *names;
    uint64_t *hashes;

    if (p->name_count < p->name_room)
        return;
    names = GROW(p->lex.arena, p->names, struct expr_name, p->name_count, room);
    hashes = GROW(p->lex.arena, p->name_hashes, uint64_t, p->name_count, room);
    p->names = names;
    p->name_hashes = hashes;
    p->name_room = room;
}

/* Which kind of name it is; *name becomes the one that an alias stands for. */
static enum expr_name_kind classify(const char **name)
{
    for (int i = 0; i < EXPR_ATTRIBUTE; i++) {
        const struct expr_derived_name *known = &expr_derived_names[i];

        if (strcmp(*name, known->name) != 0 &&
            (!known->alias || strcmp(*name, known->alias) != 0))
            continue;
        *name = known->name;
        return (enum expr_name_kind)i;
    }
    return EXPR_ATTRIBUTE;
}

static size_t find_name(const struct parser *p, const char *name, size_t length,
                        uint64_t hash)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (p->name_hashes[i] == hash &&
            strncasecmp(p->names[i].name, name, length) == 0 &&
            p->names[i].name[length] == '\0')
            return i;
    return NAME_NOT_FOUND;
}

static void find_or_add_name(struct parser *p, const struct expr_token *token,
                             size_t *slot)
{
    const char *source = p->lex.source + token->at;
    char *lower = arena_text(p->lex.arena, source, token->length);
    char *written = arena_text(p->lex.arena, source, token->length);
    const char *name = lower;
    enum expr_name_kind kind;
    uint64_t hash;

    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    kind = classify(&name);
    hash = hash_name(name, strlen(name));
    *slot = find_name(p, name, strlen(name), hash);
    if (*slot != NAME_NOT_FOUND)
        return;
    grow_names(p);
    *slot = p->name_count++;
    p->names[*slot] = (struct expr_name){.name = name, .written = written, .kind = kind};
    p->name_hashes[*slot] = hash;
}

static enum error_code emit_name(struct parser *p, const struct expr_token *token)
{
    size_t slot = 0;

    find_or_add_name(p, token, &slot);
    emit(p, (struct expr_op){.code = OP_NAME,
                             .integer = p->lex.dialect == EXPR_GRIDWAY,
                             .at = (uint32_t)slot});
    return OK;
}

/* Clauses: recorded at the outermost level only. */

static void add_clause(struct parser *p, size_t first_op, size_t from)
{
    if (p->depth > 0)
        return;
    if (p->clause_count == p->clause_room) {
        size_t room = p->clause_room ? p->clause_room * 2 : 4;
        struct span *clauses =
            GROW(p->lex.arena, p->clauses, struct span, p->clause_count, room);

        p->clauses = clauses;
        p->clause_room = room;
    }
    p->clauses[p->clause_count++] = (struct span){.first_op = first_op,
                                                  .op_count = p->op_count - first_op,
                                                  .from = from,
                                                  .length = p->lex.last_end - from};
}

/* All that has been read so far is one clause. */
static enum error_code merge_clauses(struct parser *p)
{
    if (p->depth > 0)
        return OK;
    p->clause_count = 0;
    add_clause(p, 0, p->start);
    return OK;
}

/* Logic. */

/* The `&&` or `||` that comes next, and its right side. */
static enum error_code parse_logic(struct parser *p, parse_fn *operand)
{
    bool is_and = at_token(p, TOKEN_AND);
    size_t skip = p->op_count;
    size_t from;

    TRY(take_operator(p));
    TRY(emit_code(p, is_and ? OP_SKIP_FALSE : OP_SKIP_TRUE));
    from = p->lex.token.at;
    TRY(operand(p));
    if (is_and)
        add_clause(p, skip + 1, from);
    TRY(emit_code(p, is_and ? OP_AND : OP_OR));
    land(p, skip);
    return is_and ? OK : merge_clauses(p);
}

/* `!` and what it negates. */
static enum error_code parse_negation(struct parser *p, parse_fn *operand)
{
    TRY(enter(p));
    TRY(take_operator(p));
    TRY(operand(p));
    p->depth--;
    return emit_code(p, OP_NOT);
}

/* The set of orders of a comparison; 0: the token is none. */
static unsigned orders_of(enum expr_token_kind kind)
{
    switch (kind) {
    case TOKEN_EQUAL:
        return ORDER_EQUAL;
    case TOKEN_UNEQUAL:
        return ORDER_LESS | ORDER_GREATER;
    case TOKEN_LESS:
        return ORDER_LESS;
    case TOKEN_LESS_EQUAL:
        return ORDER_LESS | ORDER_EQUAL;
    case TOKEN_GREATER:
        return ORDER_GREATER;
    case TOKEN_GREATER_EQUAL:
        return ORDER_GREATER | ORDER_EQUAL;
    default:
        return 0;
    }
}

static unsigned mirrored(unsigned how)
{
    return (how & ORDER_EQUAL) | (how & ORDER_LESS ? ORDER_GREATER : 0U) |
           (how & ORDER_GREATER ? ORDER_LESS : 0U);
}

static bool is_constant(const struct expr_op *op)
{
    return op->code == OP_LITERAL &&
           (op->value.type == VALUE_NUMBER || op->value.type == VALUE_TEXT);
}

/* Compares what was emitted from `left` with what was emitted from `right` on. A
 * name and a constant, in any order, become one operation. */
static enum error_code emit_comparison(struct parser *p, size_t left, size_t right,
                                       unsigned how)
{
    struct expr_op a = p->ops[left], b = p->ops[right];
    bool single = right - left == 1 && p->op_count - right == 1;

    if (single && is_constant(&a) && b.code == OP_NAME) {
        struct expr_op swap = a;

        a = b;
        b = swap;
        how = mirrored(how);
    } else if (!single || a.code != OP_NAME || !is_constant(&b)) {
        emit(p, (struct expr_op){.code = OP_COMPARE, .how = (uint8_t)how});
        return OK;
    }
    p->op_count = left;
    emit(p, (struct expr_op){.code = OP_TEST,
                             .how = (uint8_t)how,
                             .integer = a.integer,
                             .at = a.at,
                             .value = b.value});
    return OK;
}

static enum error_code parse_comparison(struct parser *p)
{
    size_t left = p->op_count;
    size_t right;
    unsigned how;

    TRY(parse_sum(p));
    how = orders_of(p->lex.token.kind);
    if (how == 0)
        return OK;
    TRY(take_operator(p));
    right = p->op_count;
    TRY(parse_sum(p));
    TRY(emit_comparison(p, left, right, how));
    if (orders_of(p->lex.token.kind) != 0)
        return expr_mistake(&p->lex, p->lex.token.at,
                            "comparisons do not chain; join them with &&");
    return OK;
}

static enum error_code parse_not(struct parser *p)
{
    return at_token(p, TOKEN_NOT) ? parse_negation(p, parse_not) : parse_comparison(p);
}

static enum error_code parse_and(struct parser *p)
{
    size_t first = p->op_count;
    size_t from = p->lex.token.at;

    TRY(parse_not(p));
    add_clause(p, first, from);
    while (at_token(p, TOKEN_AND))
        TRY(parse_logic(p, parse_not));
    return OK;
}

static enum error_code parse_or(struct parser *p)
{
    TRY(parse_and(p));
    while (at_token(p, TOKEN_OR))
        TRY(parse_logic(p, parse_and));
    return OK;
}

/* Functions. */

static double lesser(double a, double b)
{
    return b < a ? b : a;
}

static double greater(double a, double b)
{
    return b > a ? b : a;
}

enum function_kind { MATH1, FOLD, MATH2, MEMBER, REGEXP, IS_UNDEFINED, IF_THEN_ELSE };

struct function {
    const char *name;
    enum function_kind kind;
    size_t min_arguments, max_arguments;
    double (*math1)(double);
    double (*math2)(double, double);
};

static const struct function functions[] = {
    {"min", FOLD, 1, EXPR_ARGUMENTS_MAX, NULL, lesser},
    {"max", FOLD, 1, EXPR_ARGUMENTS_MAX, NULL, greater},
    {"abs", MATH1, 1, 1, fabs, NULL},
    {"floor", MATH1, 1, 1, floor, NULL},
    {"ceil", MATH1, 1, 1, ceil, NULL},
    {"round", MATH1, 1, 1, round, NULL},
    {"pow", MATH2, 2, 2, NULL, pow},
    {"log", MATH1, 1, 1, log, NULL},
    {"exp", MATH1, 1, 1, exp, NULL},
    {"sqrt", MATH1, 1, 1, sqrt, NULL},
    {"member", MEMBER, 2, 2, NULL, NULL},
    {"regexp", REGEXP, 2, 2, NULL, NULL},
    {"isUndefined", IS_UNDEFINED, 1, 1, NULL, NULL},
    {"ifThenElse", IF_THEN_ELSE, 3, 3, NULL, NULL},
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

/* A call that is being read. */
struct call {
    const struct function *function;
    size_t at;                 /* of its name */
    size_t count;              /* arguments so far */
    size_t to_else, to_end[2]; /* skips of ifThenElse */
};

static enum error_code wrong_count(struct parser *p, const struct call *call)
{
    const struct function *f = call->function;

    if (f->min_arguments == f->max_arguments)
        return expr_mistake(&p->lex, call->at, "%s takes %zu argument%s", f->name,
                            f->min_arguments, f->min_arguments == 1 ? "" : "s");
    return expr_mistake(&p->lex, call->at, "%s takes %zu to %zu arguments", f->name,
                        f->min_arguments, f->max_arguments);
}

/* ifThenElse after its argument number `count`: c SKIP_UNDEFINED(end)
 * POP_SKIP_FALSE(else) a SKIP(end) b. */
static enum error_code branch(struct parser *p, struct call *call)
{
    if (call->count == 1) {
        call->to_end[0] = p->op_count;
        TRY(emit_code(p, OP_SKIP_UNDEFINED));
        call->to_else = p->op_count;
        return emit_code(p, OP_POP_SKIP_FALSE);
    }
    if (call->count == 2) {
        call->to_end[1] = p->op_count;
        TRY(emit_code(p, OP_SKIP));
        land(p, call->to_else);
    } else if (call->count == 3) {
        land(p, call->to_end[0]);
        land(p, call->to_end[1]);
    }
    return OK;
}

/* What follows an argument of a call whose arguments are plain expressions. */
static enum error_code after_argument(struct parser *p, struct call *call)
{
    const struct function *f = call->function;

    call->count++;
    if (call->count > f->max_arguments)
        return wrong_count(p, call);
    if (f->kind == MATH1) {
        emit(p, (struct expr_op){.code = OP_MATH1, .math1 = f->math1});
        return OK;
    }
    if (f->kind == IS_UNDEFINED)
        return emit_code(p, OP_IS_UNDEFINED);
    if (f->kind == IF_THEN_ELSE)
        return branch(p, call);
    if (call->count > 1) {
        emit(p, (struct expr_op){.code = OP_MATH2, .math2 = f->math2});
        return OK;
    }
    return f->kind == FOLD ? emit_code(p, OP_PLUS) : OK;
}

static enum error_code parse_arguments(struct parser *p, struct call *call)
{
    if (at_token(p, TOKEN_CLOSE))
        return wrong_count(p, call);
    TRY(parse_or(p));
    TRY(after_argument(p, call));
    while (at_token(p, TOKEN_COMMA)) {
        TRY(expr_lex(&p->lex));
        TRY(parse_or(p));
        TRY(after_argument(p, call));
    }
    if (!at_token(p, TOKEN_CLOSE))
        return unexpected(p, "an operator, a comma or )");
    return call->count < call->function->min_arguments ? wrong_count(p, call) : OK;
}

/* The comma between the two arguments of member and regexp. */
static enum error_code second_argument(struct parser *p, const struct call *call)
{
    if (at_token(p, TOKEN_CLOSE))
        return wrong_count(p, call);
    return expect(p, TOKEN_COMMA, "an operator, a comma or )");
}

static enum error_code parse_member(struct parser *p, const struct call *call)
{
    enum expr_code code = OP_MEMBER_FIRST;

    if (at_token(p, TOKEN_CLOSE))
        return wrong_count(p, call);
    TRY(parse_or(p));
    TRY(second_argument(p, call));
    if (!at_token(p, TOKEN_OPEN_LIST))
        return unexpected(p, "a list in braces");
    TRY(count_node(p, p->lex.token.at));
    TRY(enter(p));
    do {
        TRY(expr_lex(&p->lex));
        TRY(parse_or(p));
        TRY(emit_code(p, code));
        code = OP_MEMBER_NEXT;
    } while (at_token(p, TOKEN_COMMA));
    TRY(expect(p, TOKEN_CLOSE_LIST, "an operator, a comma or }"));
    p->depth--;
    return emit_code(p, OP_MEMBER_END);
}

static enum error_code parse_regexp(struct parser *p, const struct call *call)
{
    struct expr_token pattern = p->lex.token;
    const struct expr_regex *regex = NULL;
    const char *problem;

    if (at_token(p, TOKEN_CLOSE))
        return wrong_count(p, call);
    if (pattern.kind != TOKEN_TEXT)
        return unexpected(p, "the pattern, a string,");
    TRY(take_operator(p));
    problem = expr_regex_compile(pattern.text, &regex, p->lex.arena);
    if (problem)
        return expr_mistake(&p->lex, pattern.at, "%s", problem);
    TRY(second_argument(p, call));
    TRY(parse_or(p));
    emit(p, (struct expr_op){.code = OP_REGEX, .regex = regex});
    return OK;
}

static enum error_code unknown_function(struct parser *p, const struct expr_token *name)
{
    const char *known[FUNCTION_COUNT];
    const char *text = arena_text(p->lex.arena, p->lex.source + name->at,
                                  name->length > 40 ? 40 : name->length);
    const char *nearest;

    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        known[i] = functions[i].name;
    nearest = names_nearest(text, known, FUNCTION_COUNT);
    return expr_mistake(&p->lex, name->at, "no function '%s'%s%s%s", text,
                        nearest ? "; did you mean " : "", nearest ? nearest : "",
                        nearest ? "?" : "");
}

/* The token is the bracket behind the name of the function. */
static enum error_code parse_call(struct parser *p, const struct expr_token *name)
{
    struct call call = {.at = name->at};

    for (size_t i = 0; i < FUNCTION_COUNT && !call.function; i++)
        if (token_is(p, name, functions[i].name))
            call.function = &functions[i];
    if (!call.function)
        return unknown_function(p, name);
    TRY(count_node(p, name->at));
    TRY(enter(p));
    TRY(expr_lex(&p->lex));
    if (call.function->kind == MEMBER)
        TRY(parse_member(p, &call));
    else if (call.function->kind == REGEXP)
        TRY(parse_regexp(p, &call));
    else
        TRY(parse_arguments(p, &call));
    if (at_token(p, TOKEN_COMMA))
        return wrong_count(p, &call);
    p->depth--;
    return expect(p, TOKEN_CLOSE, "an operator or )");
}

/* Values. */

/* A reserved word, a name, or a call; the gridway dialect has names only. */
static enum error_code parse_word(struct parser *p)
{
    struct expr_token name = p->lex.token;
    bool native = p->lex.dialect == EXPR_NATIVE;

    TRY(expr_lex(&p->lex));
    if (native && at_token(p, TOKEN_OPEN))
        return parse_call(p, &name);
    TRY(count_node(p, name.at));
    if (native && token_is(p, &name, "true"))
        return emit_value(p, expr_boolean(true));
    if (native && token_is(p, &name, "false"))
        return emit_value(p, expr_boolean(false));
    if (native && token_is(p, &name, "undefined"))
        return emit_value(p, expr_text(NULL));
    return emit_name(p, &name);
}

static enum error_code parse_brackets(struct parser *p)
{
    TRY(enter(p));
    TRY(expr_lex(&p->lex));
    TRY(p->whole(p));
    p->depth--;
    return expect(p, TOKEN_CLOSE, "an operator or )");
}

static enum error_code parse_atom(struct parser *p)
{
    struct expr_token token = p->lex.token;

    switch (token.kind) {
    case TOKEN_NUMBER:
        TRY(take_operator(p));
        return emit_value(p, expr_number(token.number));
    case TOKEN_TEXT:
        if (p->lex.dialect == EXPR_GRIDWAY)
            return unexpected(p, "a name or an integer");
        TRY(take_operator(p));
        return emit_value(p, expr_text(token.text));
    case TOKEN_NAME:
        return parse_word(p);
    case TOKEN_OPEN:
        return parse_brackets(p);
    default:
        return unexpected(p, "a value");
    }
}

static enum error_code parse_unary(struct parser *p)
{
    bool minus = at_token(p, TOKEN_MINUS);
    size_t operand = p->op_count;

    if (!minus && !at_token(p, TOKEN_PLUS))
        return parse_atom(p);
    TRY(enter(p));
    TRY(take_operator(p));
    TRY(parse_unary(p));
    p->depth--;
    if (p->op_count - operand == 1 && p->ops[operand].code == OP_LITERAL &&
        p->ops[operand].value.type == VALUE_NUMBER) {
        if (minus)
            p->ops[operand].value.number *= -1;
        return OK;
    }
    return emit_code(p, minus ? OP_NEGATE : OP_PLUS);
}

static double add(double a, double b)
{
    return a + b;
}

static double subtract(double a, double b)
{
    return a - b;
}

static double multiply(double a, double b)
{
    return a * b;
}

static double divide(double a, double b)
{
    return b == 0 ? (double)NAN : a / b;
}

static double divide_integers(double a, double b)
{
    return trunc(divide(a, b));
}

static enum error_code parse_arithmetic(struct parser *p, parse_fn *operand,
                                        double (*apply)(double, double))
{
    TRY(take_operator(p));
    TRY(operand(p));
    emit(p, (struct expr_op){.code = OP_MATH2, .math2 = apply});
    return OK;
}

static enum error_code parse_term(struct parser *p)
{
    TRY(parse_unary(p));
    for (;;) {
        if (at_token(p, TOKEN_TIMES))
            TRY(parse_arithmetic(p, parse_unary, multiply));
        else if (at_token(p, TOKEN_DIVIDE))
            TRY(parse_arithmetic(p, parse_unary,
                                 p->lex.dialect == EXPR_GRIDWAY ? divide_integers
                                                                : divide));
        else if (at_token(p, TOKEN_REMAINDER))
            TRY(parse_arithmetic(p, parse_unary, fmod));
        else
            return OK;
    }
}

static enum error_code parse_sum(struct parser *p)
{
    TRY(parse_term(p));
    for (;;) {
        if (at_token(p, TOKEN_PLUS))
            TRY(parse_arithmetic(p, parse_term, add));
        else if (at_token(p, TOKEN_MINUS))
            TRY(parse_arithmetic(p, parse_term, subtract));
        else
            return OK;
    }
}

/* Requirements of the gridway dialect. */

/* A string; behind `=` and `!=` it is a shell pattern. The name is emitted. */
static enum error_code parse_pattern(struct parser *p, size_t left, unsigned how)
{
    struct expr_token token = p->lex.token;
    bool ordered = how == ORDER_LESS || how == ORDER_GREATER;

    TRY(take_operator(p));
    if (ordered || !strpbrk(token.text, "*?[\\")) {
        TRY(emit_value(p, expr_text(token.text)));
        return emit_comparison(p, left, left + 1, how);
    }
    if (strlen(token.text) > EXPR_PATTERN_MAX)
        return expr_mistake(&p->lex, token.at, "a pattern has at most %d bytes",
                            EXPR_PATTERN_MAX);
    emit(p, (struct expr_op){
                .code = OP_GLOB, .how = (uint8_t)how, .value = expr_text(token.text)});
    return OK;
}

/* name op literal */
static enum error_code parse_gridway_comparison(struct parser *p)
{
    struct expr_token name = p->lex.token;
    size_t left = p->op_count;
    unsigned how;
    bool minus;

    TRY(count_node(p, name.at));
    TRY(emit_name(p, &name));
    TRY(expr_lex(&p->lex));
    how = orders_of(p->lex.token.kind);
    if (how == 0)
        return unexpected(p, "=, !=, > or <");
    TRY(take_operator(p));
    if (at_token(p, TOKEN_TEXT))
        return parse_pattern(p, left, how);
    minus = at_token(p, TOKEN_MINUS);
    if (minus)
        TRY(take_operator(p));
    if (!at_token(p, TOKEN_NUMBER))
        return unexpected(p, minus ? "an integer" : "an integer or a string");
    TRY(emit_value(p, expr_number(p->lex.token.number * (minus ? -1 : 1))));
    TRY(take_operator(p));
    return emit_comparison(p, left, left + 1, how);
}

static enum error_code parse_gridway_operand(struct parser *p)
{
    if (at_token(p, TOKEN_NOT))
        return parse_negation(p, parse_gridway_operand);
    if (at_token(p, TOKEN_OPEN))
        return parse_brackets(p);
    return at_token(p, TOKEN_NAME) ? parse_gridway_comparison(p)
                                   : unexpected(p, "a comparison");
}

/* `&` and `|` have one precedence and go from left to right. */
static enum error_code parse_gridway_requirement(struct parser *p)
{
    size_t first = p->op_count;
    size_t from = p->lex.token.at;

    TRY(parse_gridway_operand(p));
    add_clause(p, first, from);
    while (at_token(p, TOKEN_AND) || at_token(p, TOKEN_OR))
        TRY(parse_logic(p, parse_gridway_operand));
    return OK;
}

/* The whole. */

static enum error_code parse_whole(struct parser *p)
{
    p->start = p->lex.token.at;
    TRY(p->whole(p));
    if (p->clause_count == 0)
        TRY(merge_clauses(p));
    if (at_token(p, TOKEN_SEMICOLON))
        TRY(expr_lex(&p->lex));
    return at_token(p, TOKEN_END) ? OK : unexpected(p, "an operator or the end");
}

static void finish(struct parser *p, struct expr *out)
{
    struct expr_clause *clauses = NEW(p->lex.arena, struct expr_clause, p->clause_count);
    bool on_plan = false;

    for (size_t i = 0; i < p->clause_count; i++) {
        const struct span *span = &p->clauses[i];

        clauses[i].text =
            arena_text(p->lex.arena, p->lex.source + span->from, span->length);
        clauses[i].ops = p->ops + span->first_op;
        clauses[i].op_count = span->op_count;
    }
    for (size_t i = 0; i < p->name_count; i++)
        on_plan = on_plan || expr_derived_names[p->names[i].kind].on_plan;
    *out = (struct expr){.names = p->names,
                         .name_count = p->name_count,
                         .clauses = clauses,
                         .clause_count = p->clause_count,
                         .on_plan = on_plan,
                         .ops = p->ops,
                         .op_count = p->op_count};
}

/* White space, in the gridway dialect with a semicolon in it. */
static bool is_blank(const char *text, enum expr_dialect dialect)
{
    text += strspn(text, " \t\r\n");
    if (*text == ';' && dialect == EXPR_GRIDWAY)
        text += 1 + strspn(text + 1, " \t\r\n");
    return *text == '\0';
}

enum error_code expr_parse(const char *text, enum expr_purpose purpose,
                           enum expr_dialect dialect, const char *pointer,
                           struct expr *out, struct arena *a, struct error *err)
{
    struct parser p = {.lex = {.source = text,
                               .pointer = pointer,
                               .dialect = dialect,
                               .arena = a,
                               .err = err}};

    if (strnlen(text, EXPR_BYTES_MAX + 1) > EXPR_BYTES_MAX)
        return expr_mistake(&p.lex, EXPR_BYTES_MAX, "an expression has at most %d bytes",
                            EXPR_BYTES_MAX);
    if (is_blank(text, dialect)) {
        p.lex.source = purpose == EXPR_REQUIREMENT ? "true" : "-turnaround_s";
        p.lex.dialect = EXPR_NATIVE;
    }
    if (p.lex.dialect == EXPR_NATIVE)
        p.whole = parse_or;
    else
        p.whole = purpose == EXPR_RANK ? parse_sum : parse_gridway_requirement;
    TRY(expr_lex(&p.lex));
    TRY(parse_whole(&p));
    if (p.lex.source != text)
        p.clause_count = 0;
    finish(&p, out);
    return OK;
}
