/* manual.c - manual pages and the file of settings. */
#include "service/manual.h"

#include "service/cli.h"
#include "service/config.h"

#include <ctype.h>
#include <string.h>

static const struct setting {
    const char *type, *name, *preset, *choices, *doc;
} settings[] = {
#define X(type, name, preset, least, most, choices, customary, doc) \
    {#type, #name, preset, choices, doc},
    CONFIG_SETTINGS(X)
#undef X
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* "body_timeout_s" as --body-timeout-s or GRIDPLAN_BODY_TIMEOUT_S. In roff a hyphen is
 * written \\-, what the prefix tells. */
static void add_name(struct text_buffer *b, const char *prefix, const char *name,
                     bool flag)
{
    const char *hyphen = strchr(prefix, '\\') ? "\\-" : "-";

    text_addf(b, "%s", prefix);
    for (; *name; name++)
        if (flag && *name == '_')
            text_addf(b, "%s", hyphen);
        else
            text_addf(b, "%c", flag ? *name : toupper((unsigned char)*name));
}

/* ---- roff ---- */

/* A text on one line: no control lines, backslashes and hyphens as they are. */
static void add_roff(struct text_buffer *b, const char *text)
{
    bool start = true;

    for (; *text; text++) {
        if (*text == '\n' || (start && *text == ' '))
            continue; /* texts are wrapped anew */
        if (start && (*text == '.' || *text == '\''))
            text_addf(b, "\\&");
        if (*text == '\\')
            text_addf(b, "\\e");
        else if (*text == '-')
            text_addf(b, "\\-");
        else
            text_addf(b, "%c", *text);
        start = false;
    }
    text_addf(b, "\n");
}

/* Blanks behind line breaks of a command's text become one. */
static void add_doc(struct text_buffer *b, const char *doc)
{
    struct text_buffer flat = {.arena = b->arena};

    for (; *doc; doc++) {
        if (*doc == '\n') {
            doc += strspn(doc, "\n ") - 1;
            text_addf(&flat, " ");
        } else {
            text_addf(&flat, "%c", *doc);
        }
    }
    text_add(&flat, "", 1);
    if (flat.failed)
        b->failed = true;
    else
        add_roff(b, flat.data);
}

static void add_settings(struct text_buffer *b)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        text_addf(b, ".TP\n.B ");
        add_name(b, "\\-\\-", settings[i].name, true);
        text_addf(b, "\n");
        add_doc(b, settings[i].doc);
        if (*settings[i].preset) {
            text_addf(b, "Default: ");
            add_roff(b, settings[i].preset);
        }
    }
}

static void add_exit_statuses(struct text_buffer *b)
{
    text_addf(
        b, ".SH EXIT STATUS\n"
           "0 done; 1 refused, or it failed; 2 the command line or a setting is wrong; 3 "
           "the service is\ndown; 4 with\n.B \\-\\-strict\nsomething has no place.\n");
}

static void print_main(struct text_buffer *b)
{
    const char *name, *doc;

    text_addf(
        b, ".TH GRIDPLAN 1 \"\" \"gridplan " GRIDPLAN_VERSION "\"\n.SH NAME\n"
           "gridplan \\- scheduling decisions over HTTP\n.SH SYNOPSIS\n.B gridplan\n"
           "[\\fICOMMAND\\fR] [\\-\\-\\fISETTING\\fR \\fIVALUE\\fR]...\n.SH DESCRIPTION\n"
           "gridplan decides what runs where. It is sent resources, jobs, workflows, "
           "failures and load,\nand answers with placements, schedules, replica counts, "
           "checkpoint intervals and predictions.\nIt runs no job itself. A running "
           "service has its manual at\n.IR /docs/ .\n.SH COMMANDS\n");
    for (size_t i = 0; cli_command(i, &name, &doc); i++) {
        text_addf(b, ".TP\n.B %s\n", name);
        add_doc(b, doc);
    }
    add_exit_statuses(b);
    text_addf(b, ".SH SETTINGS\nEach is an environment variable too: "
                 "GRIDPLAN_ and its name in capitals, with underscores.\nFlags go before "
                 "variables.\n");
    add_settings(b);
    text_addf(
        b, ".SH FILES\n.I /etc/default/gridplan\n.SH SEE ALSO\n.BR gridplan\\-ask (1)\n");
}

static void print_ask(struct text_buffer *b)
{
    text_addf(
        b,
        ".TH GRIDPLAN\\-ASK 1 \"\" \"gridplan " GRIDPLAN_VERSION "\"\n.SH NAME\n"
        "gridplan\\-ask \\- a decision from a file\n.SH SYNOPSIS\n"
        ".B gridplan ask\n\\fIFILE\\fR|\\- [\\-\\-endpoint \\fINAME\\fR] [\\-\\-url "
        "\\fIURL\\fR] [\\-\\-key\\-file \\fIFILE\\fR] [\\-\\-profile \\fINAME\\fR] "
        "[\\-\\-set \\fI/path=value\\fR]... [\\-\\-json | \\-\\-svg [\\fIFILE.svg\\fR] | "
        "\\-\\-table | "
        "\\-\\-gantt | \\-\\-width \\fIN\\fR] [\\-\\-color \\fIWHEN\\fR] [\\-\\-save "
        "\\fIFILE\\fR] "
        "[\\-\\-strict]\n.SH DESCRIPTION\n"
        "Reads a request and has it answered by the service that \\-\\-url, GRIDPLAN_URL "
        "or "
        "\n.BR gridplan\\-client.conf (5)\nnames; without one it is answered in the "
        "process, "
        "as a service without a database would. Which\nendpoint it is for is known by "
        "its "
        "members, or by its algorithm; where several fit, "
        "\\-\\-endpoint says it. Of a file whose name ends in .dax, .xml, .stg, .dot or "
        ".wfformat.json\nthe workflow is scheduled; \\-\\-set gives the machines, as "
        "\\-\\-set /speeds=[1,2]. The queue of a job log, .swf, is replayed under "
        "several\npolicies, on the processors that its header names or \\-\\-set "
        "/processors=128.\n.PP\nTo a terminal the answer is a line of figures, a "
        "chart of who does what when, its rows, and what has\nno place, with the "
        "reasons; "
        "else it is the JSON of the service.\n.SH OPTIONS\n"
        ".TP\n.BI \\-\\-url \" URL\"\nthe service to ask; empty: the process itself\n"
        ".TP\n.BI \\-\\-key\\-file \" FILE\"\na file with the key; others should not be "
        "able to read it\n"
        ".TP\n.BI \\-\\-profile \" NAME\"\nwhat client.conf says of this profile\n"
        ".TP\n.BI \\-\\-set \" /path=value\"\nput a value into the document before it is "
        "asked: at a JSON pointer a JSON value, or else a text\n"
        ".TP\n.B \\-\\-table\nthe rows only\n"
        ".TP\n.B \\-\\-gantt\nthe chart only\n"
        ".TP\n.BI \\-\\-save \" FILE\"\nkeep the answer in this file, too\n"
        ".TP\n.BI \\-\\-endpoint \" NAME\"\nas placements or queue\\-orders\n"
        ".TP\n.B \\-\\-json\nthe answer as it is; of what is refused the problem "
        "document, else lines "
        "to standard error say why\n"
        ".TP\n.BI \\-\\-svg \" [FILE.svg]\"\nthe chart as a picture, into this file or "
        "to "
        "standard output\n"
        ".TP\n.BI \\-\\-width \" N\"\nthe chart in so many columns\n"
        ".TP\n.BI \\-\\-color \" auto|always|never\"\ncolours of the chart: auto, the "
        "default, on a terminal unless NO_COLOR is set\n"
        ".TP\n.B \\-\\-strict\nexit status 4 when something has no place\n");
    add_exit_statuses(b);
    text_addf(b, ".SH SEE ALSO\n.BR gridplan (1),\n.BR gridplan\\-client.conf (5)\n");
}

static void print_client_conf(struct text_buffer *b)
{
    text_addf(
        b,
        ".TH GRIDPLAN\\-CLIENT.CONF 5 \"\" \"gridplan " GRIDPLAN_VERSION "\"\n.SH NAME\n"
        "gridplan\\-client.conf \\- which service the commands of gridplan ask\n"
        ".SH DESCRIPTION\n"
        "The file is \\fI$XDG_CONFIG_HOME/gridplan/client.conf\\fR, or "
        "\\fI~/.config/gridplan/client.conf\\fR. A line is\n\\fIkey\\fR = \\fIvalue\\fR; "
        "what stands behind # is a comment. The environment is stronger than the file,\n"
        "flags are stronger than both.\n.SH KEYS\n"
        ".TP\n.B url\nof the service (GRIDPLAN_URL, \\-\\-url)\n"
        ".TP\n.B key_file\na file with the key (GRIDPLAN_KEY_FILE, \\-\\-key\\-file)\n"
        ".TP\n.B ca_file\nwhom the certificate of the service must come from\n"
        ".TP\n.B timeout_s\nseconds until an answer is given up; 60\n"
        ".TP\n.B color\nof charts on a terminal: auto, always or never\n"
        ".TP\n.BI profile. NAME . KEY\nthe same for \\-\\-profile \\fINAME\\fR\n"
        ".SH SEE ALSO\n.BR gridplan\\-ask (1)\n");
}

/* ---- /etc/default/gridplan ---- */

static void print_default(struct text_buffer *b)
{
    text_addf(b, "# /etc/default/gridplan: settings of the service, as gridplan --help "
                 "lists them.\n");
    for (size_t i = 0; i < SETTINGS; i++) {
        text_addf(b, "\n# %s\n#", settings[i].doc);
        add_name(b, "GRIDPLAN_", settings[i].name, false);
        text_addf(b, "=%s\n", settings[i].preset);
    }
}

enum error_code manual_print(const char *name, struct text_buffer *b, struct error *err)
{
    static const struct {
        const char *name;
        void (*print)(struct text_buffer *b);
    } pages[] = {{"gridplan.1", print_main},
                 {"gridplan-ask.1", print_ask},
                 {"gridplan-client.conf.5", print_client_conf},
                 {"default", print_default}};

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (strcmp(pages[i].name, name) == 0) {
            pages[i].print(b);
            return text_finish(b, err);
        }
    return fail(
        err, ERR_INVALID, "",
        "there is no '%s'; there are gridplan.1, gridplan-ask.1, gridplan-client.conf.5, "
        "default",
        name);
}
