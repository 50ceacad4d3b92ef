/* child.c - another program, run without a shell and under a time limit. */
#include "service/client/child.h"

#include "service/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE_BYTES = 65536, COMPLAINT_BYTES = 4000 };
static const size_t OUTPUT_BYTES_MAX = (size_t)1 << 30;

struct pipes {
    int in[2], out[2], error[2]; /* [0]: to be read */
};

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void shut_all(struct pipes *p)
{
    for (int i = 0; i < 2; i++) {
        shut(&p->in[i]);
        shut(&p->out[i]);
        shut(&p->error[i]);
    }
}

static bool open_all(struct pipes *p)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 &&
           pipe2(p->error, O_CLOEXEC) == 0;
}

/* In the child: never comes back. */
static void become(const struct child *c, const struct pipes *p)
{
    setpgid(0, 0);
    setenv("TZ", "UTC", 1);
    setenv("LC_ALL", "C", 1);
    setenv("SLURM_TIME_FORMAT", "standard", 1);
    setenv("SLURM_BITSTR_LEN", "0", 1); /* else tasks of arrays end in ... */
    signal(SIGPIPE, SIG_DFL);
    if (dup2(p->in[0], 0) == 0 && dup2(p->out[1], 1) == 1 && dup2(p->error[1], 2) == 2)
        execvp(c->arguments[0], (char *const *)c->arguments);
    _exit(127);
}

struct collected {
    char *text;
    size_t length, size;
};

/* Takes what there is; false: that was all. */
static bool take(int fd, struct collected *to, struct arena *a)
{
    ssize_t count;

    if (to->size - to->length < PIECE_BYTES) {
        size_t size = 2 * to->size + 2 * PIECE_BYTES;
        char *longer = TRY_GROW(a, to->text, char, to->size, size);

        if (!longer || size > OUTPUT_BYTES_MAX)
            return false;
        to->text = longer;
        to->size = size;
    }
    count = read(fd, to->text + to->length, to->size - to->length - 1);
    if (count < 0)
        return errno == EINTR || errno == EAGAIN;
    to->length += (size_t)count;
    return count > 0;
}

static void feed(struct child *c, struct pipes *p, size_t *written)
{
    ssize_t count = write(p->in[1], c->input + *written, c->input_length - *written);

    if (count > 0)
        *written += (size_t)count;
    if ((count < 0 && errno != EINTR && errno != EAGAIN) || *written == c->input_length)
        shut(&p->in[1]);
}

/* Until it has closed both ends, or the time is up. */
static void converse(struct child *c, struct pipes *p, pid_t pid, struct collected *out,
                     struct collected *error, struct arena *a)
{
    double until_s = clock_monotonic_s() + c->time_limit_s;
    size_t written = 0;

    while (p->out[0] >= 0 || p->error[0] >= 0) {
        struct pollfd fds[3] = {
            {p->out[0], POLLIN, 0}, {p->error[0], POLLIN, 0}, {p->in[1], POLLOUT, 0}};
        double left_s = until_s - clock_monotonic_s();

        if (left_s <= 0) {
            c->timed_out = true;
            kill(-pid, SIGKILL);
            return;
        }
        if (poll(fds, 3, (int)(left_s * 1000) + 1) < 0 && errno != EINTR)
            return;
        if (fds[0].revents && !take(p->out[0], out, a))
            shut(&p->out[0]);
        if (fds[1].revents && !take(p->error[0], error, a))
            shut(&p->error[0]);
        if (fds[2].revents)
            feed(c, p, &written);
    }
}

/* Its exit status, with the time that is left for a child that closed its pipes only. */
static void await(struct child *c, pid_t pid)
{
    double until_s = clock_monotonic_s() + (c->timed_out ? 5 : c->time_limit_s);
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_monotonic_s() > until_s) {
            c->timed_out = true;
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            break;
        }
        usleep(2000);
    }
    c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum error_code child_run(struct child *c, struct arena *a, struct error *err)
{
    struct collected out = {0}, error = {0};
    enum error_code code = OK;
    struct pipes p;
    pid_t pid = -1;

    c->timed_out = false;
    c->status = 127;
    if (!open_all(&p) || (pid = fork()) < 0) {
        code = fail(err, ERR_INTERNAL, "", "%s: %s", c->arguments[0], strerror(errno));
        goto out;
    }
    if (pid == 0)
        become(c, &p);
    setpgid(pid, pid);
    signal(SIGPIPE, SIG_IGN);
    shut(&p.in[0]);
    shut(&p.out[1]);
    shut(&p.error[1]);
    if (!c->input)
        shut(&p.in[1]);
    else
        fcntl(p.in[1], F_SETFL, O_NONBLOCK);
    converse(c, &p, pid, &out, &error, a);
    await(c, pid);
    c->output = out.text ? out.text : arena_try_text(a, "", 0);
    c->output_length = out.length;
    c->complaint =
        arena_try_text(a, error.text ? error.text : "",
                       error.length < COMPLAINT_BYTES ? error.length : COMPLAINT_BYTES);
    if (!c->output || !c->complaint)
        code = fail_memory(err);
    else if (out.text)
        out.text[out.length] = 0;
out:
    shut_all(&p);
    return code;
}

const char *child_problem(const struct child *c, struct arena *a)
{
    const char *said = c->complaint && *c->complaint ? c->complaint : "";
    size_t length = strcspn(said, "\n");
    const char *text;

    if (c->timed_out)
        text = arena_try_printf(a, "%s: no answer within %g s", c->arguments[0],
                                c->time_limit_s);
    else if (c->status == 127)
        text =
            arena_try_printf(a, "%s: cannot be run: is it installed?", c->arguments[0]);
    else if (c->status != 0)
        text = arena_try_printf(a, "%s: exit status %d%s%.*s", c->arguments[0], c->status,
                                length ? ": " : "", (int)length, said);
    else
        text = "";
    return text ? text : "out of memory";
}
