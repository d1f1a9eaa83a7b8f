#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
stats: what the lines of a benchmark say together.

    stats.py table FILE.tsv     the text table
    stats.py median             of the numbers on stdin
    stats.py quantile Q         of the numbers on stdin (0.95)
    stats.py --selftest

Lines that agree in program, cell, conditions, mode and direction are runs of
one row; median, and smallest to largest, are over these. Three quantities may
have a target:

    rate     bytes per second. The seconds are those of the whole process less
             the median login of the same sitting ("login"), which is a row by
             itself. CPU time is treated likewise.
    seconds  of the whole process
    kib      memory
    ms       latency

A target reads QUANTITY >= or <= [FACTOR*]REFERENCE[+ADDEND][~], for instance
rate>=0.95*iperf3 or kib<=stock+36622. The reference is the row of that program
in the same cell, conditions and direction: with the same mode, except for
iperf3, which has one of its own. "direct" is the same program in mode
"session". With ~ a difference inside the noise is no miss.

Noise: a comparison is void where the two ranges overlap by more than the
medians differ. It says nothing then, and the table says so.
"""

import csv
import re
import sys

sys.dont_write_bytecode = True      # nothing is left in the source tree
import limits

CONDITIONS = ("cell", "place", "rtt_ms", "rate", "loss", "cc", "cipher",
              "window", "streams", "load")
STOCK_WINDOW = 2 << 20  # of a channel; other programs size theirs
TARGET = re.compile(
    r"^(rate|seconds|kib|ms)(>=|<=)(?:([0-9.]+)\*)?([a-z0-9]+)"
    r"(?:\+([0-9.]+))?(~)?$")


def median(values):
    return quantile(values, 0.5)


def quantile(values, q):
    """Linear between the two nearest of the sorted values."""
    v = sorted(values)
    if not v:
        raise ValueError("no values")
    at = q * (len(v) - 1)
    low = int(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def void(a, b):
    """Whether the ranges of a and b overlap more than their medians differ."""
    overlap = min(max(a), max(b)) - max(min(a), min(b))
    return overlap > abs(median(a) - median(b))


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


ENOUGH = 100e3      # bytes, for CPU time per GB to mean anything


class Row:
    """The runs of one program in one mode, under one set of conditions."""

    def __init__(self, line, beside):
        self.conditions = tuple(line.get(c) or "-" for c in CONDITIONS)
        self.program = line["program"]
        self.mode = line["mode"]
        self.direction = line["direction"]
        self.targets = line["target"].replace("-", "").split(",")
        self.lines = []
        self.failed = 0
        self.beside = beside        # all rows, by key

    def add(self, line):
        if line["status"] == "0":
            self.lines.append(line)
        else:
            self.failed += 1

    def column(self, name):
        values = (number(line[name]) for line in self.lines)
        return [v for v in values if v is not None]

    def values(self, quantity):
        if quantity != "rate":
            return self.column(quantity)
        rates = []
        for line in self.lines:
            n, t = number(line["bytes"]), number(line["seconds"])
            if n and t is not None:
                t -= number(line["login"]) or 0
                if t > 0:
                    rates.append(n / t)
        return rates

    def way(self):
        """The processes on the way, or None: limits.py."""
        known = [limits.parse(line.get("procs") or "") for line in self.lines]
        known = [way for way in known if way]
        return limits.combine(known) if known else None

    def cpu_per_gb(self, end):
        per = []
        for line in self.lines:
            n, cpu = number(line["bytes"]), number(line["cpu_" + end])
            if n and n >= ENOUGH and cpu is not None:
                cpu -= number(line["login_" + end]) or 0
                per.append(max(cpu, 0) / n * 1e9)
        return median(per) if per else None


def read_rows(stream):
    """Rows by key, in the order of their first line."""
    rows = {}
    for line in csv.DictReader(stream, delimiter="\t"):
        row = Row(line, rows)
        key = (row.conditions, row.mode, row.direction, row.program)
        rows.setdefault(key, row).add(line)
    return rows


def reference(rows, row, name):
    mode, program = row.mode, name
    if name == "iperf3":
        mode = "iperf3"
    elif name == "direct":
        mode, program = "session", row.program
    return rows.get((row.conditions, mode, row.direction, program))


def ratio(rows, row, name, quantity="rate"):
    ref = reference(rows, row, name)
    if ref is None or ref is row:
        return None
    mine, theirs = row.values(quantity), ref.values(quantity)
    if not mine or not theirs or not median(theirs):
        return None
    return median(mine) / median(theirs)


def verdict(mine, theirs, sense, factor, addend, tolerant):
    """'met' or 'missed by ...', and void where the noise is larger."""
    bound = factor * median(theirs) + addend
    have = median(mine)
    noise = void(mine, theirs)
    if have >= bound if sense == ">=" else have <= bound:
        word = "met"
    elif tolerant and noise:
        return "met within noise"
    elif addend:
        word = "missed by %.0f" % abs(have - bound)
    else:
        word = "missed by %.1f %%" % (abs(have / bound - 1) * 100)
    return word + (" (void)" if noise and not addend else "")


def judge(rows, row, target):
    m = TARGET.match(target)
    if m is None:
        return "bad target"
    quantity, sense, factor, name, addend, tolerant = m.groups()
    ref = reference(rows, row, name)
    if ref is None:
        return "no " + name
    mine, theirs = row.values(quantity), ref.values(quantity)
    if not mine or not theirs:
        return "no data"
    return verdict(mine, theirs, sense, float(factor or 1),
                   float(addend or 0), bool(tolerant))


def beside_stock(rows, row, quantity):
    """The warning for a row that has no target to be judged by."""
    ref = reference(rows, row, "stock")
    if ref is None or ref is row:
        return ""
    mine, theirs = row.values(quantity), ref.values(quantity)
    if not mine or not theirs or not void(mine, theirs):
        return ""
    return "x stock is void"


def bdp(conditions):
    """What fills the path, and the window as a share of it."""
    at = dict(zip(CONDITIONS, conditions))
    rate, rtt = limits.path_rate(at["rate"]), number(at["rtt_ms"])
    if not rate or not rtt:
        return ""
    full, window = rate * rtt / 1e3, limits.size(at["window"])
    text = ", BDP %.0fK" % (full / 1024)
    return text + (" (window: %.2g of it)" % (window / full) if window else "")


def spread(values, form):
    if not values:
        return "-", "-"
    one = form % median(values)
    if len(values) == 1:
        return one, "one run"
    return one, (form + ".." + form) % (min(values), max(values))


def shown(value, form):
    return "-" if value is None else form % value


def measured(rows, row):
    """What a row is about: that which it, or another program in the same
    mode, has a target for; else what there is."""
    for other in rows.values():
        if (other.conditions, other.mode, other.direction) == \
                (row.conditions, row.mode, row.direction):
            for m in filter(None, map(TARGET.match, other.targets)):
                return m.group(1)
    for quantity in ("ms", "rate", "seconds"):
        if row.values(quantity):
            return quantity
    return "kib"


UNIT = {"rate": (1e6, "MB/s", "%.1f"), "seconds": (1, "s", "%.2f"),
        "kib": (1, "KiB", "%.0f"), "ms": (1, "ms", "%.1f")}


def render(rows, row, target):
    """One line of the table."""
    quantity = measured(rows, row)
    scale, unit, form = UNIT[quantity]
    mid, limits = spread([v / scale for v in row.values(quantity)], form)
    near, far = row.cpu_per_gb("near"), row.cpu_per_gb("far")
    note = judge(rows, row, target) if target else \
        beside_stock(rows, row, quantity)
    if row.failed:
        note += " %d failed" % row.failed
    return (row.mode, row.direction, row.program, str(len(row.lines)),
            spread(row.column("seconds"), "%.2f")[0],
            spread([v / 1e6 for v in row.values("rate")], "%.1f")[0],
            mid, limits, unit,
            shown(near, "%.2f") + "+" + shown(far, "%.2f"),
            shown(ratio(rows, row, "stock", quantity), "%.2f"),
            shown(ratio(rows, row, "iperf3"), "%.2f")
            if quantity == "rate" else "-",
            target or "-", note.strip() or "-")


HEAD = ("mode", "dir", "program", "runs", "time s", "MB/s", "median", "min..max",
        "unit", "CPU s/GB", "x stock", "x iperf3", "target", "verdict")
LEFT = {0, 1, 2, 8, 12, 13}


def network(row):
    """What was between the ends of a row, for limits.py."""
    at = dict(zip(CONDITIONS, row.conditions))
    window = limits.size(at["window"])
    socket = at["cell"] == "matrix"
    if row.program == "stock" and (window or STOCK_WINDOW) >= STOCK_WINDOW:
        window, socket = STOCK_WINDOW, False
    ref = reference(row.beside, row, "iperf3")
    rates = ref.values("rate") if ref else None
    return limits.Net((number(at["rtt_ms"]) or 0) / 1e3, window,
                      int(number(at["streams"]) or 1),
                      limits.path_rate(at["rate"]),
                      median(rates) if rates else None, socket)


def causes(row):
    """What held the row back, and what its processes did: indented lines."""
    way, n = row.way(), row.column("bytes")
    if not way or not n or not median(n) or row.program == "iperf3":
        return []
    n, login = median(n), median(row.column("login") or [0])
    _, sentence = limits.limit(
        n, median(row.column("seconds")) - login, way,
        number(row.lines[0]["cores"]) or 1, network(row), login)
    return ["    limit: " + sentence] + \
        ["      " + text for text in limits.details(way, n)]


def columns(lines):
    width = [max(len(x[i]) for x in lines) for i in range(len(HEAD))]
    for x in lines:
        yield "  ".join(c.ljust(w) if i in LEFT else c.rjust(w)
                        for i, (c, w) in enumerate(zip(x, width))).rstrip()


FOOT = """\
time s   median of the whole process, by CLOCK_MONOTONIC
MB/s     bytes / (whole process - median login of the sitting) / 1e6; beside
         echoes, what the path carried meanwhile
median, min..max  of the quantity that the target is about
CPU      user + system of the near and of the far process tree, less those of
         the median login, per 1e9 bytes
void     the two ranges overlap by more than the medians differ: no finding
BDP      rate * RTT: what is under way when the path is full
direct   the same program's own session, without what the mode adds
limit    what held the row back, and how its processes spent the middle half
         of the run: see limits.py"""


def table(path, out):
    with open(path, newline="") as f:
        rows = read_rows(f)
    if not rows:
        print("no measurements", file=out)
        return
    with open(path, newline="") as f:
        first = next(csv.DictReader(f, delimiter="\t"))
    for name in ("date", "commit", "builds", "libcrypto", "kernel", "cpu",
                 "cores"):
        print("%-9s %s" % (name, first.get(name, "-")), file=out)
    for conditions in dict.fromkeys(r.conditions for r in rows.values()):
        print("\nbench     " + ", ".join(
            "%s %s" % (n, v) for n, v in zip(CONDITIONS, conditions)
            if v != "-") + bdp(conditions), file=out)
        lines, below = [HEAD], [[]]
        for row in rows.values():
            if row.conditions == conditions:
                lines += [render(rows, row, t) for t in row.targets]
                below += [[]] * (len(row.targets) - 1) + [causes(row)]
        for text, more in zip(columns(lines), below):
            print("\n".join([text] + more), file=out)
    print("\n" + FOOT + "\nraw      " + path, file=out)


# Selftest: the arithmetic on numbers one can check by hand.

def near(a, b):
    return abs(a - b) < 1e-9


def test_quantiles():
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
    assert median([7]) == 7
    assert quantile([5], 0.95) == 5
    assert near(quantile(range(101), 0.95), 95)
    assert near(quantile([0, 10], 0.95), 9.5)


def test_void():
    assert not void([1, 2, 3], [4, 5, 6])           # apart
    assert not void([1, 2, 3], [3, 5, 6])           # touching
    assert void([1, 2, 9], [1, 3, 9])               # 8 against 1
    assert not void([5], [6])                       # one run each
    assert void([5, 5, 5], [4, 5, 6]) is False      # no width, no overlap
    assert void([1, 5, 9], [4, 5, 6])               # one inside the other


def test_verdicts():
    ten, nine = [10, 10, 10], [9, 9, 9]
    assert verdict(ten, nine, ">=", 1, 0, False) == "met"
    assert verdict(nine, ten, ">=", 0.9, 0, False) == "met"
    assert verdict(nine, ten, ">=", 1, 0, False) == "missed by 10.0 %"
    assert verdict(ten, nine, "<=", 1.0, 0, False) == "missed by 11.1 %"
    assert verdict(ten, nine, "<=", 1, 0.5, False) == "missed by 0"
    assert verdict(ten, nine, "<=", 1, 1, False) == "met"
    wide, wider = [5, 9, 15], [5, 10, 16]
    assert verdict(wide, wider, ">=", 1, 0, True) == "met within noise"
    assert verdict(wide, wider, ">=", 1, 0, False) == \
        "missed by 10.0 % (void)"
    assert verdict(wider, wide, ">=", 1, 0, False) == "met (void)"


def test_bdp():
    at = dict.fromkeys(CONDITIONS, "-")
    assert bdp(at.values()) == ""
    at.update(rate="1gbit", rtt_ms="100")
    assert bdp(at.values()) == ", BDP 12207K"
    at.update(rate="100mbit", rtt_ms="8", window="50000")
    assert bdp(at.values()) == ", BDP 98K (window: 0.5 of it)"


def test_targets():
    for good in ("rate>=0.95*iperf3", "seconds<=1.10*stock", "kib<=stock+256",
                 "ms<=stock~", "rate>=1*stock~", "rate>=0.85*direct"):
        assert TARGET.match(good), good
    for bad in ("rate>0.95*iperf3", "speed>=stock", "rate>=", "kib<=+3"):
        assert not TARGET.match(bad), bad


def test_cpu():
    line = dict.fromkeys(CONDITIONS + ("program", "mode", "direction", "target",
                                       "login_near"), "-")
    line.update(status="0", bytes="1e9", cpu_near="3", login_near="1")
    row = Row(line, {})
    row.add(line)
    assert near(row.cpu_per_gb("near"), 2)
    line["bytes"] = "186"
    assert row.cpu_per_gb("near") is None


def selftest():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok " + name[5:])


def main(argv):
    if argv == ["--selftest"]:
        selftest()
    elif argv[:1] == ["median"] and len(argv) == 1:
        print("%.6f" % median([float(x) for x in sys.stdin.read().split()]))
    elif argv[:1] == ["quantile"] and len(argv) == 2:
        print("%.6f" % quantile([float(x) for x in sys.stdin.read().split()],
                                float(argv[1])))
    elif argv[:1] == ["table"] and len(argv) == 2:
        table(argv[1], sys.stdout)
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
