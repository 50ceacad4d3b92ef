# ---- sender (openapi/clients/shared_sender.py) ----

LINES_AT_ONCE = 1000


def send_executions(service, executions):
    """In portions; what is stored already stays. Returns how many were new."""
    stored = 0
    for first in range(0, len(executions), LINES_AT_ONCE):
        lines = "".join(json.dumps(x) + "\n" for x in executions[first:first + LINES_AT_ONCE])
        answer = service.call("POST", "/v1/executions?on_conflict=keep", lines.encode(),
                              "application/x-ndjson")
        stored += answer.get("stored", 0)
        for mistake in answer.get("errors", []):
            print("gridplan: refused: %s" % json.dumps(mistake), file=sys.stderr)
    return stored


class Sender(threading.Thread):
    """Sends what is put into its queue, and never stands in anybody's way: what does not
    fit is counted and dropped, what cannot be sent waits for the next try."""

    ROOM, EXIT_S = 10000, 2.0

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.queue, self.backoff = service, queue.Queue(self.ROOM), Backoff()
        self.waiting, self.dropped, self.ending = [], 0, threading.Event()

    def put(self, execution):
        try:
            self.queue.put_nowait(execution)
        except queue.Full:
            self.dropped += 1

    def run(self):
        while True:
            self.collect()
            now_s = time.monotonic()
            if self.waiting and (self.backoff.may_try(now_s) or self.ending.is_set()):
                self.try_send(now_s)
            if self.ending.is_set() and self.queue.empty():
                return

    def collect(self):
        try:
            self.waiting.append(self.queue.get(timeout=0.1))
            while len(self.waiting) < self.ROOM:
                self.waiting.append(self.queue.get_nowait())
        except queue.Empty:
            pass

    def try_send(self, now_s):
        try:
            send_executions(self.service, self.waiting)
        except Refused as refused:
            if refused.status in (400, 422):
                self.dropped += len(self.waiting)
                self.waiting = []
            self.backoff.failed(now_s)
        except Exception:  # the next try comes
            self.backoff.failed(now_s)
        else:
            self.waiting = []
            self.backoff.worked()

    def finish(self):
        """At most EXIT_S, whatever the service does."""
        self.ending.set()
        self.join(self.EXIT_S)


# ---- end of sender ----
