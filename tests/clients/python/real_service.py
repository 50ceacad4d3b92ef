"""A real gridplan for tests and measurements of clients with real engines.

    tests/postgres.sh start DIR --fast
    tests/postgres.sh run DIR try /usr/bin/python3 -B tests/clients/python/test_toil_run.py

GRIDPLAN_BINARY names the service; default build/dev/gridplan.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLIENTS = os.path.join(ROOT, "openapi", "clients")
DATA = os.path.join(ROOT, "tests", "data", "engines")
BINARY = os.environ.get("GRIDPLAN_BINARY", os.path.join(ROOT, "build", "dev", "gridplan"))
DATABASE = os.environ.get("GRIDPLAN_TEST_DATABASE_URL")
DEBIAN = "/usr/bin:" + os.environ.get("PATH", "")  # where its engines' Python is the first


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Gridplan:
    """A service of its own: open() gives it a port, serve() runs it there, once more, too."""

    def open(self):
        self.port = free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.serve()

    def serve(self):
        self.service = subprocess.Popen(
            [BINARY, "--database", DATABASE, "--port", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                return urllib.request.urlopen(self.url + "/readyz", timeout=1).read()
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the service does not come up")

    def kill(self):
        self.service.kill()
        self.service.wait()

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + path, method=method, data=json.dumps(body).encode() if body else None,
            headers={"Content-Type": "application/json"})
        return json.loads(urllib.request.urlopen(request, timeout=5).read())

    def sessions(self, application):
        return self.call("GET", "/v1/workflow-sessions?application_id=" + application)["items"]


@unittest.skipUnless(DATABASE, "GRIDPLAN_TEST_DATABASE_URL is not set: tests/postgres.sh run")
@unittest.skipUnless(os.path.exists(BINARY), "no service: GRIDPLAN_BINARY")
class RealService(Gridplan, unittest.TestCase):
    HOSTS = []

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.open()
        self.addCleanup(self.kill)
        self.snapshot = "lab-%d" % self.port
        if self.HOSTS:
            self.call("POST", "/v1/snapshots?id=" + self.snapshot, {"resources": self.HOSTS})

    def until(self, condition, seconds=30):
        until_s = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until_s)
            time.sleep(0.05)
