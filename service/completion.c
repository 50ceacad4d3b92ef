/* completion.c - what completes commands, flags and their words in a shell.
 *
 * Each command has its flags and the words that may follow it; those of which there are
 * many, as the names of policies, are printed by a command of the program.
 */
#include "service/completion.h"

#include "service/ask_meant.h"
#include "service/cli.h"
#include "service/config.h"
#include "service/quota.h"

#include <string.h>

static const struct setting {
    const char *type, *name, *choices;
} settings[] = {
#define X(type, name, preset, least, most, choices, customary, doc) \
    {#type, #name, choices},
    CONFIG_SETTINGS(X)
#undef X
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* A command's flags and the words behind it, with blanks between. */
static const struct taken {
    const char *command, *flags;
    const char *words;     /* NULL: files, or of `lister` */
    const char *lister;    /* a command of which each line begins with one, or NULL */
    bool quotas, settings; /* takes these flags, too */
} taken[] = {
    {"serve", "--check-config", "", NULL, false, true},
    {"migrate", "", "", NULL, false, true},
    {"key", "--tenant --scopes --expires-days --label", "create list revoke set", NULL,
     true, true},
    {"tenant", "", "set show", NULL, true, true},
    {"health", "--url --unix --ready", "", NULL, false, false},
    {"ask",
     "--endpoint --url --key-file --profile --set --json --svg --table --gantt --width "
     "--color --save --strict",
     NULL, NULL, false, false},
    {"explain", "--endpoint --url --key-file --profile", NULL, NULL, false, false},
    {"errors", "", NULL, "errors", false, false},
    {"algorithms", "", NULL, "algorithms", false, false},
    {"docs", "--out",
     "which glossary start questions engines operation settings metrics cli changes "
     "licences",
     NULL, false, false},
    {"man", "", "gridplan.1 gridplan-ask.1 gridplan-client.conf.5 default", NULL, false,
     false},
    {"completion", "", "bash zsh", NULL, false, false},
    {"openapi", "--compare --breaks", "", NULL, false, false},
    {"simulate", "--expand", NULL, NULL, false, false},
    {"slurm",
     "--from --out --user --job --policy --add-nodes --set --decision --mode --render "
     "--url --timeout --since --key-file --anonymise --json --yes",
     "snapshot advise what-if apply ingest", NULL, false, false},
};

enum { TAKEN = sizeof(taken) / sizeof(taken[0]) };

/* Flags whose values are known; a flag that is not here takes any, or none. */
static const struct valued {
    const char *name, *words; /* NULL: a file */
} valued[] = {
    {"--color", "auto always never"},
    {"--compare", NULL},
    {"--breaks", NULL},
    {"--decision", NULL},
    {"--from", NULL},
    {"--key-file", NULL},
    {"--mode", "nice"},
    {"--out", NULL},
    {"--render", "slurmrestd sbatch"},
    {"--save", NULL},
    {"--scopes", "decide ingest admin facade read"},
    {"--unix", NULL},
};

enum { VALUED = sizeof(valued) / sizeof(valued[0]) };

/* Flags without a value. */
static const char *const switches[] = {
    "--check-config", "--ready",  "--json",      "--svg", "--table", "--gantt",
    "--strict",       "--expand", "--anonymise", "--yes", "--help"};

static bool is_switch(const char *flag, size_t length)
{
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        if (strlen(switches[i]) == length && strncmp(switches[i], flag, length) == 0)
            return true;
    return false;
}

static void add_setting(struct text_buffer *b, const char *name)
{
    text_addf(b, "--");
    for (; *name; name++)
        text_addf(b, "%c", *name == '_' ? '-' : *name);
}

static void add_commands(struct text_buffer *b)
{
    const char *name, *doc;

    for (size_t i = 0; cli_command(i, &name, &doc); i++)
        text_addf(b, "%s%s", i ? " " : "", name);
}

/* placements, queue-orders ... */
static void add_endpoints(struct text_buffer *b, const struct route *routes)
{
    static const char version[] = "/v1/";
    bool some = false;

    for (const struct route *r = routes; r->method; r++)
        if (ask_decides(r) && strncmp(r->path, version, sizeof(version) - 1) == 0) {
            text_addf(b, "%s%s", some ? " " : "", r->path + sizeof(version) - 1);
            some = true;
        }
}

static void add_choices(struct text_buffer *b, const struct setting *s)
{
    const char *choices = s->choices ? s->choices : "true|false";

    for (; *choices; choices++)
        text_addf(b, "%c", *choices == '|' ? ' ' : *choices);
}

static bool has_choices(const struct setting *s)
{
    return s->choices || strcmp(s->type, "BOOLEAN") == 0;
}

/* ---- bash ---- */

static void add_bash_words(struct text_buffer *b)
{
    text_addf(b, "COMPREPLY=($(compgen -W '");
}

static void end_bash_words(struct text_buffer *b)
{
    text_addf(b, "' -- \"$word\"))");
}

/* By the word before: values of flags. */
static void add_bash_values(struct text_buffer *b, const struct route *routes)
{
    text_addf(b, "    --endpoint) ");
    add_bash_words(b);
    add_endpoints(b, routes);
    end_bash_words(b);
    text_addf(b, "; return ;;\n");
    for (size_t i = 0; i < VALUED; i++)
        if (valued[i].words)
            text_addf(b,
                      "    %s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n",
                      valued[i].name, valued[i].words);
        else
            text_addf(b, "    %s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n",
                      valued[i].name);
    for (size_t i = 0; i < SETTINGS; i++) {
        if (!has_choices(&settings[i]))
            continue;
        text_addf(b, "    ");
        add_setting(b, settings[i].name);
        text_addf(b, ") ");
        add_bash_words(b);
        add_choices(b, &settings[i]);
        end_bash_words(b);
        text_addf(b, "; return ;;\n");
    }
}

static void add_bash_flags(struct text_buffer *b)
{
    text_addf(b, "    local flags=--help\n    case $command in\n");
    for (size_t i = 0; i < TAKEN; i++) {
        text_addf(b, "    %s) flags+=' %s'", taken[i].command, taken[i].flags);
        if (taken[i].quotas)
            text_addf(b, "$quotas");
        text_addf(b, "%s ;;\n", taken[i].settings ? "$settings" : "");
    }
    text_addf(b, "    help) ;;\n    *) flags+=\" --version --check-config$settings\" ;;\n"
                 "    esac\n");
}

static void add_bash_arguments(struct text_buffer *b)
{
    text_addf(b, "    case $command in\n    help) ");
    add_bash_words(b);
    add_commands(b);
    end_bash_words(b);
    text_addf(b, " ;;\n");
    for (size_t i = 0; i < TAKEN; i++)
        if (taken[i].words)
            text_addf(b, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;\n",
                      taken[i].command, taken[i].words);
        else if (taken[i].lister)
            text_addf(b,
                      "    %s) COMPREPLY=($(compgen -W \"$(gridplan %s 2>/dev/null | "
                      "sed 's/ .*//')\" -- \"$word\")) ;;\n",
                      taken[i].command, taken[i].lister);
    text_addf(b, "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n");
}

static void print_bash(struct text_buffer *b, const struct route *routes)
{
    text_addf(b, "# bash completion of gridplan\n_gridplan()\n{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} "
                 "before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
                 "    local quotas='");
    for (size_t i = 0; i < QUOTA_COUNT; i++)
        text_addf(b, " --%s", quota_members[i].flag);
    text_addf(b, "' settings='");
    for (size_t i = 0; i < SETTINGS; i++) {
        text_addf(b, " ");
        add_setting(b, settings[i].name);
    }
    text_addf(b, "'\n    case $before in\n");
    add_bash_values(b, routes);
    text_addf(b, "    esac\n");
    add_bash_flags(b);
    text_addf(b,
              "    if [[ $word == -* ]]; then\n"
              "        COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
              "        return\n    fi\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        ");
    add_bash_words(b);
    add_commands(b);
    end_bash_words(b);
    text_addf(b, "\n        return\n    fi\n");
    add_bash_arguments(b);
    text_addf(b, "}\ncomplete -o filenames -F _gridplan gridplan\n");
}

/* ---- zsh ---- */

/* "'--color:value:(auto always never)' ". */
static void add_zsh_flag(struct text_buffer *b, const char *flag, size_t length,
                         const struct route *routes)
{
    text_addf(b, " '%.*s", (int)length, flag);
    for (size_t i = 0; i < VALUED; i++)
        if (strlen(valued[i].name) == length &&
            strncmp(valued[i].name, flag, length) == 0) {
            if (valued[i].words)
                text_addf(b, ":value:(%s)'", valued[i].words);
            else
                text_addf(b, ":file:_files'");
            return;
        }
    if (length == strlen("--endpoint") && strncmp(flag, "--endpoint", length) == 0) {
        text_addf(b, ":endpoint:(");
        add_endpoints(b, routes);
        text_addf(b, ")");
    } else if (!is_switch(flag, length)) {
        text_addf(b, ":value:");
    }
    text_addf(b, "'");
}

static void add_zsh_argument(struct text_buffer *b, const struct taken *t)
{
    if (t->words && *t->words)
        text_addf(b, " '2:word:(%s)' '*:file:_files'", t->words);
    else if (t->lister)
        text_addf(b,
                  " '2:name:{compadd -- $(gridplan %s 2>/dev/null | sed \"s/ .*//\")}'",
                  t->lister);
    else if (!t->words)
        text_addf(b, " '*:file:_files'");
}

static void add_zsh_command(struct text_buffer *b, const struct taken *t,
                            const struct route *routes)
{
    text_addf(b, "%s) _arguments '1:command:' --help", t->command);
    for (const char *at = t->flags; *at;) {
        size_t length = strcspn(at, " ");

        add_zsh_flag(b, at, length, routes);
        at += length + (at[length] == ' ');
    }
    text_addf(b, "%s%s", t->quotas ? " $quotas" : "", t->settings ? " $settings" : "");
    add_zsh_argument(b, t);
    text_addf(b, " ;;\n");
}

static void print_zsh(struct text_buffer *b, const struct route *routes)
{
    text_addf(b, "#compdef gridplan\nlocal -a quotas settings\nquotas=(");
    for (size_t i = 0; i < QUOTA_COUNT; i++)
        text_addf(b, "\n    '--%s:value:'", quota_members[i].flag);
    text_addf(b, ")\nsettings=(");
    for (size_t i = 0; i < SETTINGS; i++) {
        text_addf(b, "\n    '");
        add_setting(b, settings[i].name);
        text_addf(b, ":value:");
        if (has_choices(&settings[i])) {
            text_addf(b, "(");
            add_choices(b, &settings[i]);
            text_addf(b, ")");
        }
        text_addf(b, "'");
    }
    text_addf(b, ")\nif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                 "    compadd -- ");
    add_commands(b);
    text_addf(b, "\n    return\nfi\ncase $words[2] in\nhelp) _arguments '1:command:' "
                 "'2:command:(");
    add_commands(b);
    text_addf(b, ")' ;;\n");
    for (size_t i = 0; i < TAKEN; i++)
        add_zsh_command(b, &taken[i], routes);
    text_addf(b, "*) _arguments --help --version --check-config $settings ;;\nesac\n");
}

enum error_code completion_print(const char *shell, const struct route *routes,
                                 struct text_buffer *b, struct error *err)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(b, routes);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(b, routes);
    else
        return fail(err, ERR_INVALID, "",
                    "there is no completion for '%.60s'; there are bash, zsh", shell);
    return text_finish(b, err);
}
