#!/usr/bin/env python3
"""What the rules of learning.md 3.1 and 3.2 give after a change, without the service.

A second program, around the member ridge (5.1) and the history term (5.2) alone: the mean
error over fresh questions after 10 new runs of 15 % noise, and how much of that is the
choice of seeds. tests/bench/learning.c measures the same of the service's models.

    change.py SEEDS
"""
import math
import random
import statistics
import sys

FACTORS = (2, 0.5, 5, 0.2)
NOISE = 0.15
BEFORE, NEW, ASKED = 60, 10, 12


def draw(rng, generator):
    """Inputs (size, processors) and how long such a run takes."""
    size, processors = rng.uniform(100, 1000), 1
    if generator == 'rep':
        size = rng.choice((100, 200, 400, 800))
    if generator != 'so':
        return (size, processors), 10 + 0.5 * size
    processors = 2 ** rng.randrange(5)
    return (size, processors), 10 + 5 * size / processors + 2 * math.log(processors)


def columns(x, scales):
    z = []
    for k, mean, deviation in scales:
        v = (math.log(x[k]) - mean) / deviation
        z.append(math.copysign(6 + math.log(abs(v) - 5), v) if abs(v) > 6 else v)
    return z + [v * v - 1 for v in z] + [1]


def solve(a, b):
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            factor = a[j][i] / a[i][i]
            b[j] -= factor * b[i]
            for k in range(i, n):
                a[j][k] -= factor * a[i][k]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][k] * b[k] for k in range(i + 1, n))) / a[i][i]
    return b


def fit_ridge(rows):
    """rows: (x, y, weight)"""
    scales = []
    for k in range(2):
        logs = [math.log(x[k]) for x, _, _ in rows]
        if max(logs) > min(logs):
            deviation = max(statistics.pstdev(logs), 1e-9)
            scales.append((k, statistics.fmean(logs), deviation))
    mean = sum(w * y for _, y, w in rows) / sum(w for _, _, w in rows)
    penalty = [0.1] * len(scales) + [1.0] * len(scales) + [1e-6]
    n = len(penalty)
    a = [[penalty[i] * (i == k) for k in range(n)] for i in range(n)]
    b = [0.0] * n
    for x, y, w in rows:
        c = columns(x, scales)
        for i in range(n):
            b[i] += w * c[i] * (y - mean)
            for k in range(n):
                a[i][k] += w * c[i] * c[k]
    return scales, solve(a, b), mean


class Model:
    def __init__(self, has_history):
        self.has_history = has_history
        self.old, self.window = [], []  # [x, y, error or None, counts]
        self.up = self.down = 0.0
        self.up_start = self.down_start = self.since_training = 0
        self.ridge, self.history, self.scale = None, {}, 1

    def train(self):
        n = len(self.window)
        weight = 10 / (10 + n) if n < 60 else 0
        rows = [(x, y, weight) for x, y, _, _ in self.old if weight]
        rows += [(x, y, 1) for x, y, _, counts in self.window if counts]
        self.ridge, self.history = fit_ridge(rows), {}
        for x, y, _ in rows:
            self.history.setdefault(x, []).append(y - self.member(x))
        sizes = [abs(y - self.member(x)) for x, y, _ in rows]
        s0 = (len(sizes) * statistics.median(sizes) + 0.2) / (len(sizes) + 2)
        self.scale = max(0.05, 1.6 * s0)  # about half of the interval of level 0.6827
        self.since_training = 0

    def member(self, x):
        scales, coefficients, mean = self.ridge
        return mean + sum(c * b for c, b in zip(columns(x, scales), coefficients))

    def ask(self, x):
        seen = self.history.get(x, [])[-8:] if self.has_history else []
        moved = statistics.median(seen) * len(seen) / (len(seen) + 0.5) if seen else 0
        return self.member(x) + moved

    def learn(self, x, y):
        """Was there a change?"""
        error, counts = None, True
        if self.ridge and len(self.old) + len(self.window) >= 5:
            error = y - self.ask(x)
            counts = abs(error) <= max(math.log(3), 4 * self.scale)
            z = max(-3, min(3, error / self.scale))
            self.up = max(0, self.up + z - 1)
            self.down = max(0, self.down - z - 1)
            if self.up == 0:
                self.up_start = len(self.window) + 1
            if self.down == 0:
                self.down_start = len(self.window) + 1
        self.window.append([x, y, error, counts])
        self.since_training += 1
        changed = self.up > 5 or self.down > 5
        if changed:
            self.split(self.up_start if self.up > 5 else self.down_start)
        if changed or self.since_training >= max(1, len(self.window) // 20):
            self.train()
        elif counts:
            self.history.setdefault(x, []).append(y - self.member(x))
        return changed

    def split(self, start):
        new = self.window[start:]
        centre = statistics.median(e for _, _, e, _ in new if e is not None)
        before = self.old + self.window[:start]
        self.old = [[x, y + centre, None, True] for x, y, _, counts in before if counts]
        self.old = self.old[-200:]
        self.window = [[x, y, e, True] for x, y, e, _ in new]
        self.up = self.down = 0.0
        self.up_start = self.down_start = len(self.window)


def stream(generator, factor, rng):
    """Error after NEW runs, and at which the change was noticed."""
    model, noticed = Model(generator == 'rep'), None
    for i in range(1, BEFORE + NEW + 1):
        x, time_s = draw(rng, generator)
        time_s *= factor if i > BEFORE else 1
        changed = model.learn(x, math.log(time_s) + NOISE * rng.gauss(0, 1))
        if changed and i > BEFORE and noticed is None:
            noticed = i - BEFORE
    asked = (draw(rng, generator) for _ in range(ASKED))
    return statistics.fmean(abs(math.exp(model.ask(x)) / (factor * time_s) - 1)
                            for x, time_s in asked), noticed


def main():
    seeds = range(int(sys.argv[1]))
    for generator in ('lin', 'so', 'rep'):
        rows = [[stream(generator, f, random.Random(1000 * s + 7)) for f in FACTORS]
                for s in seeds]
        late = sum(n is None or n > 5 for row in rows for _, n in row)
        means = [100 * statistics.fmean(e for e, _ in row) for row in rows]
        deviation = statistics.stdev(means)
        print(f'{generator}: error after {NEW} new runs {statistics.fmean(means):.1f} %; '
              f'standard deviation of the mean of 2 seeds {deviation / 2 ** 0.5:.1f}, '
              f'of 6 seeds {deviation / 6 ** 0.5:.1f}; '
              f'noticed late {late} of {4 * len(rows)}', flush=True)


if __name__ == '__main__':
    main()
