#!/usr/bin/env python3
"""tests/check_budget.py - every loop within a loop over input counts its work.

    tests/check_budget.py [--list | --update]

    --list     all that is found
    --update   takes lines that fit none from the list, and adds new ones without a reason

Looks at each function in algorithms/, handlers/ and models/fitted/. A loop whose condition names something
that is no constant runs as long as the input says. One such loop is a pass over what was
read: it costs less than reading it did, and needs no budget. A loop in a loop does, and so
does a loop that calls a function with one, of algorithms/, handlers/ or models/ (but for
hashes and texts, models/base; through pointers nothing is seen): it must call
budget_step(), or what stands for it (TICKS), somewhere in the outer loop or in what it calls
there; or it is listed in tests/check_budget.txt with a reason.

Fails for a function that is not listed, and for a line of the list that fits none.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("algorithms", "handlers", "models")
LOOKED_AT = ("algorithms/", "handlers/", "models/fitted/")
SEARCHED = ("models/base/", "algorithms/placement/pair_map")  # hash, text: no loop to count
LISTED = ROOT / "tests" / "check_budget.txt"
REASONS = {
    "linear": "all inner passes together go once over the request or the answer, or sort it",
    "small": "one of the loops is bounded by a constant, or by what a table allows",
    "caller": "who calls counts the work: before, after, or in a number that is asked by",
    "sparse": "the inner loop is a search by hash or bisection, or one branch of a heap",
    "capped": "a cap, which is named, keeps the product below some milliseconds",
    "events": "part of an event of a simulation, which counts these",
}
TICKS = re.compile(
    r"\b(budget_(step|spent|look|used)|workflow_(tick|cut|search_step)|ticks_(spent|ask)"
    r"|search_(tick|is_over|stop|stop_now|stopped|charge)|machine_(look|is_cut)|plan_spent"
    r"|budget_over|budget_read_step|json_is_over|json_go_on|is_spent|too_late|spent)\s*\(")
LOOP = re.compile(r"\b(for|while)\s*\(")
CALL = re.compile(r"\b([a-z_][a-z0-9_]*)\s*\(")
FUNCTION = re.compile(r"^(?!static const|struct [a-z_]+ \{|enum|#|typedef)[a-z].*?^\{\n(.*?)^\}",
                      re.M | re.S)
NAME = re.compile(r"([a-z_][a-z0-9_]*)\s*\(")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def matching(text, at, open_, close):
    """Index behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == open_) - (text[i] == close)
        if depth == 0:
            return i + 1
    return len(text)


def statement_end(text, at):
    """Index behind the statement that begins at `at`."""
    at += len(text[at:]) - len(text[at:].lstrip())
    if text[at:at + 1] == "{":
        return matching(text, at, "{", "}")
    m = re.match(r"(for|while|if)\s*\(", text[at:])
    if m:
        end = matching(text, at + m.end() - 1, "(", ")")
        end = statement_end(text, end)
        rest = re.match(r"\s*else\b", text[end:])
        return statement_end(text, end + rest.end()) if m[1] == "if" and rest else end
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "({") - (text[i] in ")}")
        if text[i] == ";" and depth == 0:
            return i + 1
    return len(text)


def is_constant(head):
    """Whether a loop's head names nothing but constants and its own counter."""
    condition = head
    if head.count(";") == 2:
        begin, condition, _ = head.split(";")
        condition += begin.partition("=")[2]  # loops that count down
    bound = re.sub(r"\b([ijk]|sizeof|bool|int|const|size_t|double|char|uint64_t)\b", "", condition)
    return not re.search(r"[a-z]", bound)


def loops_of(body):
    """(begin, end, head end) of the loops over input."""
    for m in LOOP.finditer(body):
        head = matching(body, m.end() - 1, "(", ")")
        if not is_constant(body[m.end():head - 1]):
            yield m.start(), statement_end(body, head), head


class Source:
    """A file: its functions, and which of them are its own."""

    def __init__(self, path):
        text = without_comments(path.read_text())
        self.path, self.functions, self.own = path.relative_to(ROOT), {}, set()
        for m in FUNCTION.finditer(text):
            head = m[0][:m[0].index("\n{")]
            names = NAME.findall(head)
            if names and "=" not in head:
                self.functions[names[0]] = m[1]
                if head.startswith("static"):
                    self.own.add(names[0])


def calls_of(body, source, everywhere):
    """What a piece of a function calls: (file, name), a file's own before others'."""
    names = set(CALL.findall(body))
    return ({(source.path, n) for n in names & source.functions.keys()}
            | {(everywhere[n], n) for n in names & everywhere.keys()
               if n not in source.functions})


def found_everywhere():
    sources = [Source(p) for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.c"))]
    everywhere = {n: s.path for s in sources for n in s.functions if n not in s.own}
    bodies = {(s.path, n): (b, s) for s in sources for n, b in s.functions.items()}
    calls = {k: calls_of(b, s, everywhere) for k, (b, s) in bodies.items()}
    ticking = {k for k, (b, _) in bodies.items() if TICKS.search(b)}
    while True:  # what calls one that counts, counts
        more = {k for k in bodies if k not in ticking and ticking & calls[k]}
        if not more:
            break
        ticking |= more
    looping = {k for k, (b, _) in bodies.items()
               if any(loops_of(b)) and not str(k[0]).startswith(SEARCHED)}
    for key, (body, source) in bodies.items():
        if str(key[0]).startswith(LOOKED_AT) and is_found(body, key, source, everywhere,
                                                          looping, ticking):
            yield f"{key[0]}:{key[1]}"


def is_found(body, key, source, everywhere, looping, ticking):
    for begin, end, _ in loops_of(body):
        inside = body[begin:end]
        called = calls_of(inside, source, everywhere)
        nested = any(begin < b < end for b, _, _ in loops_of(body))
        if (nested or called & looping - {key}) and not (
                TICKS.search(inside) or called & ticking):
            return True
    return False


def update(found):
    lines = LISTED.read_text().splitlines()
    head = [x for x in lines if x.startswith("#")]
    known = dict(x.split(" ", 1) for x in lines if x and not x.startswith("#"))
    LISTED.write_text("\n".join(head + [f"{x} {known.get(x, '?')}"
                                        for x in sorted(found)]) + "\n")


def main():
    found = set(found_everywhere())
    if "--list" in sys.argv:
        print("\n".join(sorted(found)))
        return 0
    if "--update" in sys.argv:
        update(found)
    listed, bad = set(), 0
    for number, line in enumerate(LISTED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where, _, reason = line.partition(" ")
        listed.add(where)
        if reason.strip().split(":")[0] not in REASONS:
            print(f"tests/check_budget.txt:{number}: no reason of {', '.join(REASONS)}")
            bad += 1
    for where in sorted(found - listed):
        print(f"{where}: a loop in a loop over input that counts no work: call budget_step(), "
              "or list it in tests/check_budget.txt")
    for where in sorted(listed - found):
        print(f"tests/check_budget.txt: {where} is listed and need not be")
    bad += len(found ^ listed)
    print(f"budget: {len(listed)} loops are listed as they are"
          + (f", {bad} breaches" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
