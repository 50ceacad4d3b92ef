"""rig.py - what the torture commands share: replicas that may be killed and stopped, a
PostgreSQL of their own, HTTP, and a record of every round as a JSON line."""
import argparse
import http.client
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POSTGRES = os.path.join(ROOT, "tests", "postgres.sh")


class Broken(Exception):
    """A rule of the command does not hold."""


def options(description, **defaults):
    """The options of every command, and its own numbers with their defaults."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")))
    parser.add_argument("--output", default="", help="file that JSON lines are added to")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "dev", "gridplan"))
    for name, value in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return parser.parse_args()


def sql(url, statement):
    """Runs statements; the rows as lists of texts."""
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", url,
         "-c", statement], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return [line.split("\t") for line in done.stdout.splitlines() if line]


def load(name):
    """Another command of this folder, for what is in it."""
    loader = importlib.machinery.SourceFileLoader(
        name, os.path.join(ROOT, "tests", "torture", name))
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def send(pid, number):
    """A signal, if the process is still there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def family(pid):
    """A process and its children."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True,
                           text=True, check=False).stdout
    return [pid] + [int(child) for child in found.split()]


class Cluster:
    """A PostgreSQL of this run alone."""

    def __init__(self, fast=True):
        self.folder = tempfile.mkdtemp(prefix="gridplan-torture.")
        os.chmod(self.folder, 0o755)
        command = [POSTGRES, "start", self.folder] + (["--fast"] if fast else [])
        out = subprocess.run(command, capture_output=True, text=True, check=True)
        self.url = out.stdout.strip().splitlines()[-1]

    def database(self, name):
        """A new database; its URL."""
        sql(self.url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        sql(self.url, f"CREATE DATABASE {name}")
        return self.url.replace("/gridplan?", f"/{name}?")

    def data(self):
        return subprocess.run([POSTGRES, "data", self.folder], capture_output=True, text=True,
                              check=True).stdout.strip()

    def postmaster(self):
        with open(os.path.join(self.data(), "postmaster.pid"), encoding="utf-8") as file:
            return int(file.readline())

    def admin(self, statement):
        """As the administrator."""
        return sql(self.url.replace("//gridplan@/gridplan?", "//postgres@/postgres?"),
                   statement)

    def close(self):
        subprocess.run([POSTGRES, "stop", self.folder], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Replica:
    """gridplan on a port that it keeps when it is killed and started again."""

    def __init__(self, binary, url, *flags):
        self.command = [binary, "--database", url, *flags]
        self.port = 0
        self.process = None
        self.log = tempfile.NamedTemporaryFile(mode="w+", suffix=".log", delete=False)
        self.lock = threading.Lock()
        self.start()

    def start(self):
        begin = os.path.getsize(self.log.name)
        self.process = subprocess.Popen(
            self.command + ["--port", str(self.port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.log.name, "a", encoding="utf-8"))
        end = time.time() + 60
        while time.time() < end and self.process.poll() is None:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                log.seek(begin)
                found = re.search(r" on http://[^,]*:(\d+),", log.read())
            if found:
                self.port = int(found.group(1))
                return
            time.sleep(0.01)
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"gridplan does not start; see {self.log.name}")

    def kill(self):
        """kill -9, and a new process on the same port."""
        with self.lock:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.start()

    def pause(self, seconds):
        with self.lock:
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            self.process.send_signal(signal.SIGCONT)

    def close(self):
        """Ends it in order. Raises what its log says of sanitizers."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            text = log.read()
        found = re.search(r"(Sanitizer|runtime error:|Assertion).*", text)
        if found:
            raise Broken(f"{found.group(0)[:200]}; see {self.log.name}")
        os.unlink(self.log.name)

    def call(self, method, path, body=None, headers=None, timeout=70, hang_up_s=None):
        """(status, body, headers); status 0: no answer. `hang_up_s`: closes the
        connection after that time without reading the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            if hang_up_s is not None:
                time.sleep(hang_up_s)
                return 0, b"", {}
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        except (OSError, http.client.HTTPException):
            return 0, b"", {}
        finally:
            connection.close()

    def wait_ready(self, limit_s=60):
        end = time.time() + limit_s
        while self.call("GET", "/readyz", timeout=5)[0] != 200:
            if time.time() > end:
                raise Broken(f"port {self.port} is not ready after {limit_s} s")
            time.sleep(0.05)

    def metric(self, name):
        text = self.call("GET", "/metrics")[1].decode()
        found = re.search(rf"^{name} (\S+)$", text, re.M)
        return float(found.group(1)) if found else 0.0


def rounds(args, play):
    """Plays the rounds, play(round, random) -> record with `broken`, a list of texts. Ends
    at the first broken rule; the exit status."""
    for number in range(1, args.rounds + 1):
        begin = time.time()
        try:
            record = play(number, random.Random(args.seed * 1000003 + number))
        except Broken as broken:
            record = {"broken": [str(broken)]}
        line = json.dumps({"command": os.path.basename(sys.argv[0]), "round": number,
                           "seed": args.seed, **record,
                           "seconds": round(time.time() - begin, 1)})
        print(line, flush=True)
        if args.output:
            with open(args.output, "a", encoding="utf-8") as out:
                out.write(line + "\n")
        if record["broken"]:
            return 1
    return 0


def run(args, play, fast=True):
    """The same, with a PostgreSQL of its own: play(args, random, cluster, round). `fast`: it
    does not wait for its disk."""
    cluster = Cluster(fast)
    try:
        return rounds(args, lambda number, dice: play(args, dice, cluster, number))
    finally:
        cluster.close()
