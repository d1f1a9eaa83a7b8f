#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
stats: medians, ranges and verdicts of a sitting's lines.

    stats.py table FILE.tsv     the text table
    stats.py median             of the numbers on stdin
    stats.py quantile Q         of the numbers on stdin (0.95)
    stats.py --selftest

Lines that agree in program, cell, conditions, mode and direction are runs of
one row. A row has a median and a range, from the smallest run to the largest.
Five quantities may have a target:

    rate     bytes per second. The seconds are those of the whole process less
             the median login of the same sitting. Logins are rows of their
             own. CPU time is reduced by the login's likewise.
    seconds  of the whole process
    cpu      CPU seconds of both ends for 1e9 bytes
    kib      memory
    ms       latency

A target reads QUANTITY >= or <= [FACTOR*]REFERENCE[+ADDEND][~], for instance
rate>=0.95*iperf3 or kib<=stock+36622. The reference is the row of that program
in the same cell, conditions and direction: with the same mode, except for
iperf3, whose mode is "iperf3". "direct" is the same program in mode "session",
"single" in mode "scp".
With ~ a difference within the noise is no miss.

A comparison is void if the two ranges overlap by more than the medians differ:
the noise is then larger than the difference. The table marks such comparisons.
"""

import csv
import re
import sys
from math import isclose
from statistics import median

sys.dont_write_bytecode = True      # the source tree stays clean
import limits                                               # noqa: E402
from units import amount, byte_rate, number, selftest       # noqa: E402

CONDITIONS = ("cell", "place", "rtt_ms", "rate", "loss", "cc", "cipher",
              "window", "streams", "load")
# Columns that the scripts read; "run" writes them, and some more.
COLUMNS = CONDITIONS + (
    "date", "commit", "builds", "version", "libcrypto", "kernel", "cpu",
    "cores", "loadavg", "program", "mode", "direction", "bytes", "seconds",
    "login", "login_near", "login_far", "cpu_near", "cpu_far", "kib", "ms",
    "status", "target", "procs")
MODE_OF = {"direct": "session", "single": "scp"}
STOCK_WINDOW = 2 << 20  # bytes of a channel; other programs size theirs
TARGET = re.compile(
    r"^(rate|seconds|cpu|kib|ms)(>=|<=)(?:([0-9.]+)\*)?([a-z0-9]+)"
    r"(?:\+([0-9.]+))?(~)?$")


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


def conditions(line):
    return tuple(line[c] or "-" for c in CONDITIONS)


# Bytes; the CPU time of a smaller transfer is mostly that of its start.
CPU_BYTES_MIN = 100e3


class Row:
    """The runs of one program in one mode, under one set of conditions."""

    def __init__(self, line, beside):
        self.conditions = conditions(line)
        self.given = dict(zip(CONDITIONS, self.conditions))
        self.program = line["program"]
        self.mode = line["mode"]
        self.direction = line["direction"]
        self.targets = line["target"].replace("-", "").split(",")
        self.lines = []
        self.failed = 0
        self.beside = beside        # all rows of the sitting, by key

    def add(self, line):
        if line["status"] == "0":
            self.lines.append(line)
        else:
            self.failed += 1

    def column(self, name):
        values = (number(line[name]) for line in self.lines)
        return [v for v in values if v is not None]

    def values(self, quantity):
        if quantity == "cpu":
            near, far = self.cpu_of("near"), self.cpu_of("far")
            return [x + y for x, y in zip(near, far)] \
                if len(near) == len(far) else []
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

    def usage(self):
        """limits.Usage over all runs, or None if no run recorded it."""
        known = filter(None, (limits.parse(x["procs"]) for x in self.lines))
        return limits.combine(list(known))

    def path_rate(self):
        """Bytes per second that the path carries, or None."""
        return byte_rate(self.given["rate"])

    def bdp(self):
        """The path's rate times its RTT, in bytes, or None."""
        rate, rtt = self.path_rate(), number(self.given["rtt_ms"])
        return rate * rtt / 1e3 if rate and rtt else None

    def feature(self, name):
        """A condition, or another attribute that tells rows apart. A mode
        such as "rsync, 1000 x 3" consists of a tool and a set of files."""
        if name in ("tool", "set"):
            return self.mode.partition(", ")[0 if name == "tool" else 2]
        return self.given[name] if name in CONDITIONS else getattr(self, name)

    def is_login(self):
        return self.direction == "-" and \
            re.match(r"(\w+_)?logins?\b", self.mode) is not None

    def reference(self, name):
        """The row to compare with, or None; see above for the names."""
        mode, program = self.mode, name
        if name == "iperf3":
            mode = "iperf3"
        elif name in MODE_OF:
            mode, program = MODE_OF[name], self.program
        return self.beside.get(
            (self.conditions, mode, self.direction, program))

    def against(self, name, quantity):
        """The values of this row and of the reference; None if one of them
        has none, or they are the same row."""
        ref = self.reference(name)
        if ref is None or ref is self:
            return None
        pair = self.values(quantity), ref.values(quantity)
        return pair if all(pair) else None

    def ratio(self, name, quantity="rate"):
        pair = self.against(name, quantity)
        if pair is None or not median(pair[1]):
            return None
        return median(pair[0]) / median(pair[1])

    def is_void(self, quantity):
        """Whether the noise hides the difference from stock."""
        pair = self.against("stock", quantity)
        return pair is not None and void(*pair)

    def quantity(self):
        """The quantity that the row measures: the one that it, or another
        program in the same mode, has a target for; otherwise what it has."""
        for other in self.beside.values():
            if (other.conditions, other.mode, other.direction) == \
                    (self.conditions, self.mode, self.direction):
                for m in filter(None, map(TARGET.match, other.targets)):
                    return m.group(1)
        for quantity in ("ms", "rate", "seconds"):
            if self.values(quantity):
                return quantity
        return "kib"

    def cpu_of(self, end):
        per = []
        for line in self.lines:
            n, cpu = number(line["bytes"]), number(line["cpu_" + end])
            if n and n >= CPU_BYTES_MIN and cpu is not None:
                cpu -= number(line["login_" + end]) or 0
                per.append(max(cpu, 0) / n * 1e9)
        return per

    def cpu_per_gb(self, end):
        per = self.cpu_of(end)
        return median(per) if per else None


def read_lines(path):
    """The lines of a TSV file, as dictionaries. A line that was cut short is
    left out. Raises ValueError if the file lacks a column."""
    with open(path, newline="") as f:
        text = csv.DictReader(f, delimiter="\t")
        missing = [c for c in COLUMNS if c not in (text.fieldnames or ())]
        if missing:
            raise ValueError("no column %s: not written by this version of "
                             "the benchmark" % missing[0])
        return [x for x in text if None not in x and None not in x.values()]


def rows_of(lines):
    """Rows by key, in the order of their first line."""
    rows = {}
    for line in lines:
        key = (conditions(line), line["mode"], line["direction"],
               line["program"])
        if key not in rows:
            rows[key] = Row(line, rows)
        rows[key].add(line)
    return rows


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


def judge(row, target):
    m = TARGET.match(target)
    if m is None:
        return "bad target"
    quantity, sense, factor, name, addend, tolerant = m.groups()
    ref = row.reference(name)
    if ref is None:
        return "no " + name
    mine, theirs = row.values(quantity), ref.values(quantity)
    if not mine or not theirs:
        return "no data"
    return verdict(mine, theirs, sense, float(factor or 1),
                   float(addend or 0), bool(tolerant))


def bdp_text(row):
    """The BDP, and the window as a share of it."""
    full, window = row.bdp(), amount(row.given["window"])
    if not full:
        return ""
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


UNIT = {"rate": (1e6, "MB/s", "%.1f"), "seconds": (1, "s", "%.2f"),
        "cpu": (1, "s/GB", "%.2f"), "kib": (1, "KiB", "%.0f"),
        "ms": (1, "ms", "%.1f")}


HEAD = ("mode", "dir", "program", "runs", "time s", "MB/s", "median", "min..max",
        "unit", "CPU s/GB", "x stock", "x iperf3", "target", "verdict")
LEFT = {0, 1, 2, 8, 12, 13}     # columns of words


def note(row, quantity, target):
    """The verdict on a target; without one, whether "x stock" is void."""
    text = judge(row, target) if target else \
        "x stock is void" if row.is_void(quantity) else ""
    if row.failed:
        text += " %d failed" % row.failed
    return text.strip() or "-"


def render(row, target):
    """One line of the table, by the names of HEAD."""
    quantity = row.quantity()
    scale, unit, form = UNIT[quantity]
    mid, extent = spread([v / scale for v in row.values(quantity)], form)
    return dict(zip(HEAD, (
        row.mode, row.direction, row.program, str(len(row.lines)),
        spread(row.column("seconds"), "%.2f")[0],
        spread([v / 1e6 for v in row.values("rate")], "%.1f")[0],
        mid, extent, unit,
        "+".join(shown(row.cpu_per_gb(end), "%.2f") for end in ("near", "far")),
        shown(row.ratio("stock", quantity), "%.2f"),
        shown(row.ratio("iperf3"), "%.2f") if quantity == "rate" else "-",
        target or "-", note(row, quantity, target))))


def network(row):
    """The path between the ends of a row, for limits.py."""
    window = amount(row.given["window"])
    socket = row.given["cell"] == "matrix"
    if row.program == "stock" and (window or STOCK_WINDOW) >= STOCK_WINDOW:
        window, socket = STOCK_WINDOW, False
    ref = row.reference("iperf3")
    rates = ref.values("rate") if ref else None
    return limits.Net((number(row.given["rtt_ms"]) or 0) / 1e3, window,
                      int(number(row.given["streams"]) or 1), row.path_rate(),
                      median(rates) if rates else None, socket)


def causes(row):
    """Returns indented lines: the bottleneck of the row, and its processes."""
    usage, n = row.usage(), row.column("bytes")
    if not usage or not n or not median(n) or row.program == "iperf3":
        return []
    n, login = median(n), median(row.column("login") or [0])
    _, sentence = limits.limit(
        n, median(row.column("seconds")) - login, usage,
        number(row.lines[0]["cores"]) or 1, network(row), login)
    return ["    limit: " + sentence] + \
        ["      " + text for text in limits.details(usage, n)]


def columns(lines):
    width = [max(len(x[i]) for x in lines) for i in range(len(HEAD))]
    for x in lines:
        yield "  ".join(c.ljust(w) if i in LEFT else c.rjust(w)
                        for i, (c, w) in enumerate(zip(x, width))).rstrip()


FOOT = """\
time s   median of the whole process, by CLOCK_MONOTONIC
MB/s     bytes / (whole process - median login of the sitting) / 1e6; of an
         echo, what the path carried during it
median, min..max  of the quantity that the target is about
CPU      user + system of the near and of the far process tree, less those of
         the median login, per 1e9 bytes
void     the two ranges overlap by more than the medians differ: no finding
BDP      rate * RTT: bytes in flight when the path is full
direct   the same program in a plain session, without what the mode adds
single   the same program's scp over one connection
limit    what limited the rate, and how the processes spent the middle half of
         the run: see limits.py"""


def table(path, out):
    lines = read_lines(path)
    if not lines:
        print("no measurements", file=out)
        return
    for name in ("date", "commit", "builds", "libcrypto", "kernel", "cpu",
                 "cores"):
        print("%-9s %s" % (name, lines[0][name]), file=out)
    groups = {}
    for row in rows_of(lines).values():
        groups.setdefault(row.conditions, []).append(row)
    for group in groups.values():
        print("\nbench     " + ", ".join(
            "%s %s" % (n, v) for n, v in group[0].given.items()
            if v != "-") + bdp_text(group[0]), file=out)
        body, below = [HEAD], [[]]
        for row in group:
            body += [tuple(render(row, t).values()) for t in row.targets]
            below += [[]] * (len(row.targets) - 1) + [causes(row)]
        for text, more in zip(columns(body), below):
            print("\n".join([text] + more), file=out)
    print("\n" + FOOT + "\nraw      " + path, file=out)


# Selftest: the arithmetic on numbers one can check by hand.

def test_quantiles():
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
    assert median([7]) == 7
    assert quantile([5], 0.95) == 5
    assert isclose(quantile(range(101), 0.95), 95)
    assert isclose(quantile([0, 10], 0.95), 9.5)


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


def made(**columns):
    """A row of one run, "-" in all columns but these."""
    line = {**dict.fromkeys(COLUMNS, "-"), "status": "0", **columns}
    row = Row(line, {})
    row.add(line)
    return row


def test_bdp():
    assert bdp_text(made()) == ""
    assert bdp_text(made(rate="1gbit", rtt_ms="100")) == ", BDP 12207K"
    assert bdp_text(made(rate="100mbit", rtt_ms="8", window="50000")) == \
        ", BDP 98K (window: 0.5 of it)"


def test_units():
    assert amount("2M") == 2 << 20 and amount("65536") == 65536
    assert amount("64K") == 65536 and amount("0.1%") == 0.1
    assert amount("-") is None and amount("unlimited") is None
    assert byte_rate("1gbit") == 125e6 and byte_rate("100mbit") == 12.5e6
    assert byte_rate("-") is None and byte_rate("0") is None


def test_targets():
    for good in ("rate>=0.95*iperf3", "seconds<=1.10*stock", "kib<=stock+256",
                 "ms<=stock~", "rate>=1*stock~", "rate>=0.85*direct"):
        assert TARGET.match(good), good
    for bad in ("rate>0.95*iperf3", "speed>=stock", "rate>=", "kib<=+3"):
        assert not TARGET.match(bad), bad


def test_cpu():
    big = made(bytes="1e9", cpu_near="3", login_near="1")
    assert isclose(big.cpu_per_gb("near"), 2)
    assert big.values("cpu") == []
    both = made(bytes="1e9", cpu_near="3", login_near="1", cpu_far="5")
    assert both.values("cpu") == [7]
    assert made(bytes="186", cpu_near="3").cpu_per_gb("near") is None


def main(argv):
    if argv == ["--selftest"]:
        selftest(globals())
    elif argv[:1] == ["median"] and len(argv) == 1:
        print("%.6f" % median([float(x) for x in sys.stdin.read().split()]))
    elif argv[:1] == ["quantile"] and len(argv) == 2:
        print("%.6f" % quantile([float(x) for x in sys.stdin.read().split()],
                                float(argv[1])))
    elif argv[:1] == ["table"] and len(argv) == 2:
        try:
            table(argv[1], sys.stdout)
        except (OSError, ValueError) as e:
            sys.exit("stats: %s: %s" % (argv[1], getattr(e, "strerror", e)))
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
