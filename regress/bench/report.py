#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
report: what benchmarks have found, as one HTML page.

    report.py [-o PAGE.html] [FILE.tsv...]

Without files, all that are in build/bench; the page is report.html there. It
needs nothing from outside and runs no script: figures are SVG inside it
(figure.py), published figures are those of published.tsv, medians, noise and
verdicts those of stats.py, what limits is said by limits.py.

Of each cell and set of conditions the newest sitting counts: what an older
one says was said of an older program. A sitting that was interrupted in there
gives way to an older one with more rows. The last section lists what each file
has given.
"""

import csv
import io
import math
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import figure                               # noqa: E402
import model                                # noqa: E402
import stats                                # noqa: E402
from figure import Point, Series            # noqa: E402
from page import document, drawing, esc, grid, p, tag   # noqa: E402

BUILD = os.environ.get("HAYATE_BUILD") or \
    os.path.join(HERE, os.pardir, os.pardir, "build")

# Published rates are drawn in the unit of ours.
TO_MB = {"MB/s": 1, "MiB/s": 1.048576, "Mbit/s": 0.125, "Gbit/s": 125}
UNIT_NAME = {"rate": "MB/s", "seconds": "seconds", "kib": "KiB",
             "ms": "milliseconds"}


def die(text):
    sys.exit("report: " + text)


# Reading

class Sitting:
    """One file, its lines by the conditions they were measured under."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.lines = read_lines(path)
        self.groups = {}
        for line in self.lines:
            self.groups.setdefault(conditions(line), []).append(line)
        self.date = self.lines[0]["date"] if self.lines else ""
        self.used = []

    def last(self):
        """Where it was interrupted, if it was."""
        return conditions(self.lines[-1])


def conditions(line):
    return tuple(line.get(c) or "-" for c in stats.CONDITIONS)


def read_lines(path):
    """The lines of a file as dictionaries. Once there was one column called
    load, the machine's, then two of that name, then the first was renamed. A
    line that does not say how many streams there were had one."""
    with open(path, newline="") as f:
        text = csv.reader(f, delimiter="\t")
        head = next(text, [])
        if "load" in head and "loadavg" not in head:
            head[head.index("load")] = "loadavg"
        lines = [{"streams": "1", **dict(zip(head, fields))} for fields in text
                 if len(fields) == len(head)]
    need = {"cell", "program", "mode", "direction", "status"}
    return lines if need <= set(head) else []


def keys(lines):
    return {(x["mode"], x["direction"], x["program"]) for x in lines}


def rows_of(lines):
    """stats.py reads text, so text it gets."""
    names = list(lines[0])
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter="\t", restval="-")
    writer.writeheader()
    writer.writerows(lines)
    out.seek(0)
    return stats.read_rows(out)


def choose(sittings):
    """Rows of the newest sitting for all conditions, and of an older one where
    the newest was interrupted."""
    rows = {}
    newest_first = sorted(sittings, key=lambda s: s.date, reverse=True)
    for c in dict.fromkeys(c for s in sittings for c in s.groups):
        having = [s for s in newest_first if c in s.groups]
        best = having[0]
        for older in having[1:]:
            if best.last() == c and \
                    keys(best.groups[c]) < keys(older.groups[c]):
                best = older
        best.used.append(c)
        for line in best.groups[c]:
            line["file"] = best.name
        rows.update(rows_of(best.groups[c]))
    return rows


def read_published():
    path = os.path.join(HERE, "published.tsv")
    with open(path, newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


# Of rows

def given(row, name):
    return row.conditions[stats.CONDITIONS.index(name)]


def amount(text):
    """20M, 1gbit, 0.1%, 64 and the like as a number; None for no number."""
    m = re.match(r"^([0-9.]+)\s*([kKmMgGT]?)(i?B|bit|%)?$", text or "")
    if m is None:
        return None
    step = 1000 if m.group(3) == "bit" else 1024
    return float(m.group(1)) * step ** " kmgt".index(m.group(2).lower() or " ")


RATE = re.compile(r"^([0-9.]+)([kmg]?)bit$", re.I)
BUSY = 0.8          # of all cores


def path_rate(row):
    """Bytes per second of the row's path, or None."""
    m = RATE.match(given(row, "rate"))
    return m and float(m.group(1)) / 8 * 1000 ** " kmg".index(
        m.group(2).lower() or " ")


def bdp(row):
    """Bytes that the row's path holds, or None."""
    rate, rtt = path_rate(row), stats.number(given(row, "rtt_ms"))
    return rate * rtt / 1000 if rate and rtt else None


def is_login(row):
    return row.direction == "-" and re.match(
        r"(\w+_)?logins?\b", row.mode) is not None


def is_void(rows, row, quantity):
    """Whether nothing can be said of the row against stock."""
    if row.program in ("stock", "iperf3"):
        return False
    ref = stats.reference(rows, row, "stock")
    if ref is None or not ref.values(quantity) or not row.values(quantity):
        return False
    return stats.void(row.values(quantity), ref.values(quantity))


def point(rows, row, quantity, x, scale=None):
    values = [v / (scale or stats.UNIT[quantity][0])
              for v in row.values(quantity)]
    if not values:
        return None
    return Point(x, stats.median(values), min(values), max(values),
                 is_void(rows, row, quantity))


def grouped(rows, names):
    """Rows by the named ones of their features, in order."""
    groups = {}
    for row in rows:
        key = tuple(feature(row, n) for n in names)
        groups.setdefault(key, []).append(row)
    return groups


# Under every figure

def several(values, most=4):
    some = list(dict.fromkeys(v for v in values if v and v != "-"))
    if len(some) > most:
        return "%s and %d more" % (", ".join(some[:most]), len(some) - most)
    return ", ".join(some)


def extent(values, form="%g"):
    some = sorted(v for v in map(stats.number, values) if v is not None)
    if not some:
        return ""
    if some[0] == some[-1]:
        return form % some[0]
    return (form + " to " + form) % (some[0], some[-1])


def programs_of(lines):
    named = dict.fromkeys((x["program"], x["version"]) for x in lines
                          if x.get("version"))
    return ", ".join("%s is %s" % pair for pair in named)


def in_words(rows):
    """The conditions of rows, as (name, value) in the order one asks."""
    lines = [x for r in rows for x in r.lines]
    column = lambda name: [x.get(name) for x in lines]      # noqa: E731
    runs = sorted({len(r.lines) for r in rows})
    days = sorted(d[:16].replace("T", " ") for d in column("date") if d)
    yield "date", " to ".join(dict.fromkeys(days[:1] + days[-1:]))
    yield "commit", several(column("commit"))
    yield "programs", programs_of(lines)
    yield "runs", extent(runs)
    yield "place", several(column("place"))
    yield "RTT", extent(column("rtt_ms")) + " ms"
    yield "rate", several(column("rate"))
    yield "loss", several(column("loss"), 8)
    yield "congestion control", several(column("cc"))
    yield "cipher", several(column("cipher"), 8)
    yield "window ceiling", several(column("window"), 8)
    yield "streams", several(column("streams"), 8)
    yield "cross traffic", several(column("load"), 8)
    yield "kernel", several(column("kernel"))
    yield "cpu", several(column("cpu"))
    yield "cores", several(column("cores"))
    yield "libcrypto", several(column("libcrypto"))
    yield "load average", extent(column("loadavg"))
    yield "file", several(column("file"))


def conditions_text(rows):
    said = ("%s %s" % (n, v.strip()) for n, v in in_words(rows) if v.strip())
    return p("Conditions: " + "; ".join(said) + ".", "conditions")


def limit_of(row):
    """What limits.py says of the row, without the processes; of rows that have
    none what follows from their figures. "kind: more", or nothing."""
    said = stats.causes(row)
    if said:
        return said[0].strip().partition(": ")[2]
    if is_login(row) or not row.lines:
        return ""
    guess = {"files": round_trips, "cross": link_left}.get(
        given(row, "cell"), cores_busy)
    return guess(row)


def round_trips(row):
    """Of a file; a path without a round trip to speak of has other limits."""
    rtt, ms = stats.number(given(row, "rtt_ms")), row.values("ms")
    if not ms or not rtt or rtt < 1:
        return ""
    return "round trips: %.1f of them for each file, the login's included" % (
        stats.median(ms) / rtt)


def link_left(row):
    rate, load = path_rate(row), amount(given(row, "load"))
    if not row.values("rate") or rate is None or load is None:
        return ""
    return "the link: beside a load of %g %% it has %.1f MB/s left, headers " \
        "included, and %.1f came" % (load, rate * (1 - load / 100) / 1e6,
                                     stats.median(row.values("rate")) / 1e6)


def cores_busy(row):
    """Of whole processes at both ends."""
    each = [(stats.number(x["cpu_near"]), stats.number(x["cpu_far"]),
             stats.number(x["seconds"])) for x in row.lines]
    shares = [(near + far) / t for near, far, t in each
              if None not in (near, far, t) and t > 0]
    cores = stats.number(row.lines[0]["cores"])
    if not shares or not cores or stats.median(shares) < BUSY * cores:
        return ""
    return "the machine's cores: %.1f of %d busy" % (stats.median(shares),
                                                     cores)


def feature(row, name):
    """A condition, or what else tells rows apart."""
    if name in stats.CONDITIONS:
        return given(row, name)
    if name in ("tool", "set"):
        tool, _, many = row.mode.partition(", ")
        return tool if name == "tool" else many
    return getattr(row, name)


FEATURES = ("program", "mode", "direction") + stats.CONDITIONS[1:]
SAID = {"rtt_ms": "RTT %s ms", "window": "window %s", "load": "load %s",
        "loss": "loss %s", "streams": "%s streams"}


def speak(name, value):
    if (name, value) == ("streams", "1"):
        return "1 stream"
    if name == "cipher":
        return re.sub(r"(-etm)?@[\w.]+", "", value)
    return SAID.get(name, "%s") % value


def labels(rows):
    """A short name for each of rows: that by which they differ."""
    vary = [f for f in FEATURES if len({feature(r, f) for r in rows}) > 1]
    return [" ".join(speak(f, feature(r, f)) for f in vary
                     if feature(r, f) != "-") or r.program for r in rows]


SAID_EACH = 4   # rows that have a sentence each; of more, each kind has one
LISTED = 6      # names in a sentence; more are counted


def some_of(names, all_):
    if len(names) <= LISTED:
        return ", ".join(names)
    return "%d of these %d" % (len(names), all_)


def limit_text(rows):
    by, names = {}, labels(rows)
    for row, name in zip(rows, names):
        said = limit_of(row)
        if said:
            kind = said.partition(":")[0] if len(rows) > SAID_EACH \
                else said
            by.setdefault(kind, []).append((name, said))
    items = [tag("li", "What limits ", esc(
        some_of([n for n, _ in found], len(rows))),
        ": ", tag("b", esc(kind)), "" if kind == found[0][1] else esc(
            "; for instance %s: %s" % (found[0][0],
                                       found[0][1].partition(": ")[2])), ".")
        for kind, found in by.items()]
    return tag("ul", *items, class_="limits") if items else ""


def strangers_text(rows):
    """Programs that have not the cipher of their conditions (run, strangers)."""
    found = {(row.program, line["version"].rpartition(" with ")[2])
             for row in rows for line in row.lines
             if " with " in line["version"]}
    items = [tag("li", esc(program), " ran with ", esc(cipher), ".")
             for program, cipher in sorted(found)]
    return tag("ul", *items, class_="limits") if items else ""


def below(rows):
    return strangers_text(rows) + limit_text(rows) + conditions_text(rows)


# Tables of rows

HEAD = ("what", "way", "program", "runs", "MB", "median", "min..max", "unit",
        "time s", "CPU s/GB near+far", "x stock", "x iperf3", "target")


def body_line(rows, row):
    """stats.py's line of the row, with the void comparison said aloud."""
    each = [dict(zip(stats.HEAD, stats.render(rows, row, t)))
            for t in row.targets]
    at = each[0]
    beside = at["x stock"]
    if beside != "-" and is_void(rows, row, stats.measured(rows, row)):
        beside += " void"
    size = row.column("bytes")
    judged = (": ".join(x for x in (e["target"], e["verdict"]) if x not in
                        ("-", "x stock is void")) for e in each)
    return (row.mode, row.direction, row.program, at["runs"],
            "%.4g" % (stats.median(size) / 1e6) if size and size[0] else "-",
            at["median"], at["min..max"], at["unit"], at["time s"],
            at["CPU s/GB"].replace("-+-", "-"), beside, at["x iperf3"],
            ", ".join(judged) or "-")


def rows_table(rows, some, caption, extra=()):
    """extra: conditions that differ, as more columns in front."""
    body = [tuple(given(r, e) for e in extra) + body_line(rows, r)
            for r in some]
    n = len(extra)
    empty = {i for i in range(n + 8, n + len(HEAD))
             if all(b[i] in ("-", "") for b in body)}
    keep = [i for i in range(n + len(HEAD)) if i not in empty]
    head = tuple(NAMES.get(e, e) for e in extra) + HEAD
    return grid([head[i] for i in keep], [[b[i] for i in keep] for b in body],
                caption, {keep.index(i) for i in keep
                          if i - n in (0, 1, 2, 7, 12)},
                lambda b: "hayate" in b)


NAMES = {"rtt_ms": "RTT ms", "load": "cross traffic", "cc": "control"}
AGAINST = {"rtt_ms": "RTT", "load": "cross traffic",
           "window": "window ceiling",
           "streams": "how many there are at once", "rate": "the path's rate"}

def process_table(some, label):
    """Who did what, of all rows that know."""
    body = []
    for row in some:
        way = None if is_login(row) else row.way()
        for q in sorted(way.procs if way else [], reverse=True,
                        key=lambda q: q.busy or 0):
            if q.user + q.sys < 0.02 and not q.busy:
                continue
            body.append((label(row), row.program, process_name(q),
                         "%.0f" % ((q.busy or 0) * 100),
                         "%.0f" % ((q.wait or 0) * 100),
                         "%.2f" % q.user, "%.2f" % q.sys,
                         whole_number(q.switches), whole_number(q.calls)))
    if not body:
        return ""
    return grid(("what", "program", "process", "busy %", "waits %", "user s",
                 "system s", "switches", "reads+writes"), body,
                "Processes on the way, medians. Busy is the share of a core "
                "in the middle half of the run, waits the share of time "
                "without a core that was wanted.", {0, 1, 2},
                lambda b: b[1] == "hayate")


def end_name(q):
    return ("far " if q.far else "") + q.comm


def process_name(q):
    return end_name(q) + (" x %d" % q.count if (q.count or 0) > 1 else "")


def whole_number(value):
    return "-" if value is None else "%.0f" % value


# Published beside measured

def published_for(published, cell):
    return [x for x in published if cell in x["cell"].split(",")]


def published_value(x):
    high = x["high"]
    return x["value"] if high == "-" else "%s to %s" % (x["value"], high)


def published_table(some):
    body = [(x["what"], x["rtt_ms"],
             "%.4g" % (float(x["bytes"]) / 1e6) if x["bytes"] != "-" else "-",
             x["streams"], published_value(x), x["unit"], in_mb(x),
             x["conditions"], x["source"]) for x in some]
    if not body:
        return ""
    return grid(("published", "RTT ms", "MB", "streams", "value", "unit",
                 "in MB/s", "conditions", "source"), body,
                "Published by others, on other machines and links; to compare "
                "in shape, not in size.", {0, 5, 7, 8})


def in_mb(x):
    if x["unit"] not in TO_MB:
        return "-"
    values = [float(v) * TO_MB[x["unit"]] for v in (x["value"], x["high"])
              if v != "-"]
    return " to ".join("%.4g" % v for v in values)


def published_point(x, at, unit):
    """A published figure as a point, if it is of that quantity."""
    if unit == "rate" and x["unit"] in TO_MB:
        factor = TO_MB[x["unit"]]
    elif unit == "seconds" and x["unit"] == "s":
        factor = 1
    elif unit == "ms" and x["unit"] == "s":
        factor = 1000
    else:
        return None
    low = float(x["value"]) * factor
    high = float(x["high"]) * factor if x["high"] != "-" else low
    return Point(at, (low + high) / 2, low, high, False)


# Figures

def compared(rows, some, published=(), label=None):
    """Of rows under the same conditions: a figure for each quantity, names
    down the side, a mark for each program; iperf3 stands beside all of its
    direction."""
    label = label or (lambda r: (r.mode + " " + r.direction).rstrip(" -"))
    by_quantity = {}
    for r in some:
        if r.mode != "iperf3" and not is_login(r) and r.lines:
            by_quantity.setdefault(stats.measured(rows, r), []).append(r)
    for quantity, these in by_quantity.items():
        names = list(dict.fromkeys(map(label, these)))
        series = [Series(program, program, list(filter(None, (
            point(rows, r, quantity, label(r)) for r in these
            if r.program == program))), None)
            for program in dict.fromkeys(r.program for r in these)]
        series += peer_series(rows, these, quantity, label)
        extra, more = published_series(published, quantity)
        yield quantity, these, names + extra, series + more


def peer_series(rows, these, quantity, label):
    if quantity != "rate":
        return []
    points = {}
    for r in these:
        ref = stats.reference(rows, r, "iperf3")
        if ref is not None and ref.values("rate"):
            points[label(r)] = point(rows, ref, "rate", label(r))
    return [Series("iperf3", "iperf3", list(points.values()), None)]


def published_series(published, quantity):
    names, points = [], []
    for x in published:
        name = "published: " + x["short"]
        at = published_point(x, name, quantity)
        if at is not None:
            names.append(name)
            points.append(at)
    return names, [Series("published", "published", points, None)]


def where(row):
    """Conditions that tell sections of a cell apart, for captions."""
    parts = []
    if given(row, "place") == "path":
        parts.append("a path of %s ms, %s" % (given(row, "rtt_ms"),
                                              given(row, "rate")))
        if given(row, "loss") not in ("0", "-"):
            parts.append("loss " + given(row, "loss"))
    else:
        parts.append(given(row, "place"))
    for name, form in (("window", "window ceiling %s"), ("load", "load %s")):
        if given(row, name) != "-":
            parts.append(form % given(row, name))
    if given(row, "streams") not in ("1", "-"):
        parts.append(given(row, "streams") + " streams")
    return ", ".join(parts)


def in_order(groups):
    """By conditions, numbers as such."""
    def key(item):
        return [(amount(v) is None, amount(v) or 0, v) for v in item[0]]
    return [group for _, group in sorted(groups.items(), key=key)]


def section_compared(rows, mine, published, called=None):
    """Figure and table for each set of conditions."""
    out = []
    for some in in_order(grouped(mine, stats.CONDITIONS)):
        at = where(some[0])
        for quantity, these, names, series in compared(rows, some):
            caption = caption_of(quantity, these, "over " + at, called)
            svg = figure.dots(caption, names, series, UNIT_NAME[quantity])
            out.append(drawing(svg, caption + ".", below(these)))
        out.append(rows_table(rows, some, "Over " + at + "."))
    return "".join(out) + published_table(published)


WORDS = {"rate": ("Rate", "without login; more is better"),
         "seconds": ("Time", "of the whole process; less is better"),
         "kib": ("Memory", "less is better"),
         "ms": ("Latency", "less is better")}


def caption_of(quantity, some, what, called=None):
    name, better = WORDS[quantity]
    if quantity == "rate" and not any(
            stats.number(x["login"]) for r in some for x in r.lines):
        better = better.replace("without login", "login included")
    return "%s %s (%s)" % (called or name, what, better)


def section_plain(rows, mine, published):
    """A cell that this page knows nothing of."""
    out = [p("No figure is known for this cell: what was measured, as it is.")]
    for some in in_order(grouped(mine, stats.CONDITIONS)):
        out.append(rows_table(rows, some, "Over " + where(some[0]) + "."))
        out.append(below(some))
    return "".join(out) + published_table(published)


def section_self(rows, mine, published):
    """One copy: a figure of rates and one of processes for each mode. Several
    at once: rate against their number."""
    alone = [r for r in mine if given(r, "streams") in ("1", "-")]
    one = [x for x in published if x["streams"] == "1"]
    out = []
    for some in grouped([r for r in alone if not is_login(r)],
                        ("mode",)).values():
        for quantity, these, names, series in compared(rows, some, one,
                                                       self_label):
            caption = caption_of(quantity, these, "of one copy, a host to "
                                 "itself, by cipher: " + some[0].mode)
            svg = figure.dots(caption, names, series, UNIT_NAME[quantity])
            out.append(drawing(svg, caption + ".", below(these)))
        out.append(busy_figure(some))
    out.append(sweeps(rows, [r for r in mine if r.mode == "scp"], "streams",
                      "copies at once", published=published,
                      split=("program", "direction"), said=("cipher",),
                      height=300))
    out.append(rows_table(rows, mine, "A host to itself.", differing(mine)))
    out.append(process_table(alone, lambda r: r.mode + ", " + self_label(r)))
    return "".join(out) + published_table(published)


def self_label(row):
    """Without the mode, and the cipher without its domain."""
    return "%s %s" % (speak("cipher", given(row, "cipher")), row.direction)


def busy_figure(some):
    """A line for each row, a mark on it for each process."""
    points, names = {}, []
    for row in some:
        way = None if is_login(row) else row.way()
        if not way:
            continue
        name = "%s, %s" % (self_label(row), row.program)
        names.append(name)
        for q in way.procs:
            if (q.busy or 0) >= 0.02:
                busy = q.busy * 100
                points.setdefault(end_name(q), []).append(
                    Point(name, busy, busy, busy, False))
    if not points:
        return ""
    series = [Series(process, process, at, None)
              for process, at in points.items()]
    caption = "How busy each process was in the middle half of the run: " + \
        some[0].mode
    svg = figure.dots(caption, names, series, "% of one core", together=True)
    return drawing(svg, caption + ".", below(some))


UNLIMITED = "unlimited"


def sweep(rows, mine, x, quantity="rate", split=("program", "streams")):
    """Where rows differ in x, and in what tells series apart, alone: lists of
    them; only those that say most about x."""
    same = [c for c in stats.CONDITIONS if c != x and c not in split]
    same += [f for f in ("mode", "direction") if f not in split]
    if "tool" in split:
        same[same.index("mode")] = "set"
    groups = {}
    for r in mine:
        if r.mode == "iperf3" or is_login(r) or not r.values(quantity):
            continue
        if amount(given(r, x)) is not None or given(r, x) == UNLIMITED:
            groups.setdefault(tuple(feature(r, f) for f in same), []).append(r)
    count = {k: len({given(r, x) for r in g}) for k, g in groups.items()}
    most = max(count.values(), default=0)
    return [g for k, g in groups.items() if count[k] == most and most > 1]


def places(group, x, scale):
    """Where on the axis each value of x is; what has no limit is a step beyond
    the largest that has."""
    at = {given(r, x): amount(given(r, x)) for r in group}
    if UNLIMITED in at:
        at[UNLIMITED] = 4 * max(v for v in list(at.values()) + [bdp(group[0])]
                                if v is not None)
    return {text: v / scale for text, v in at.items()}


def swept(rows, group, x, quantity, at, split):
    """The series of one group: the program says how a mark is filled, the rest
    which one it is. iperf3 is there as often as the rest has values."""
    vary = [f for f in split if len({feature(r, f) for r in group}) > 1]
    rest = [f for f in vary if f != "program"]
    others = sorted({tuple(feature(r, f) for f in rest) for r in group},
                    key=lambda t: [(amount(v) or 0, v) for v in t])
    series = {}
    for r in group:
        other, where_ = tuple(feature(r, f) for f in rest), at[given(r, x)]
        series.setdefault((r.program, other), {})[where_] = point(
            rows, r, quantity, where_)
        ref = stats.reference(rows, r, "iperf3")
        if quantity == "rate" and ref is not None and ref.values("rate"):
            other = tuple(feature(ref, f) if f in stats.CONDITIONS else "-"
                          for f in rest)
            series.setdefault(("iperf3", other), {})[where_] = point(
                rows, ref, "rate", where_)
    most = max(map(len, series.values()))
    return [Series(", ".join([program] + [
        speak(f, v) for f, v in zip(rest, other) if v != "-"]),
        program, list(points.values()),
        others.index(other) if rest and other in others else None)
        for (program, other), points in series.items()
        if len(points) > 1 or most == 1]


MOST = 8        # figures of one kind in a section


def sweeps(rows, mine, x, xlabel, quantity="rate", scale=1, published=(),
           split=("program", "streams"),
           said=("rtt_ms", "rate", "loss", "cc", "window", "streams", "load"),
           called=None, **how):
    """Figures of a quantity against a condition."""
    out = []
    groups = sweep(rows, mine, x, quantity, split)
    for group in groups[:MOST]:
        what = what_of(group, x, said)
        caption = caption_of(quantity, group, "against %s%s" % (
            AGAINST.get(x, x), ": " + what if what else ""), called)
        at = places(group, x, scale)
        series = swept(rows, group, x, quantity, at, split) + \
            published_against(published, group, x, quantity, scale)
        svg = figure.lines(caption, series, xlabel, UNIT_NAME[quantity],
                           marks=marks_for(group, x, scale),
                           named={v: name for name, v in at.items()
                                  if x == "window"}, **how)
        out.append(drawing(svg, caption + ".", below(group)))
    if len(groups) > MOST:
        out.append(p("%d more of the kind are in the table only."
                     % (len(groups) - MOST)))
    return "".join(out)


def what_of(group, x, said):
    """What the rows of a group have in common, in a few words."""
    def same(f):
        values = {feature(r, f) for r in group}
        return values.pop() if len(values) == 1 else "-"
    words = [same("mode") if same("mode") != "-" else same("set"),
             same("direction")]
    words = [" ".join(w for w in words if w and w != "-")]
    words += [speak(f, same(f)) for f in said
              if f != x and same(f) not in ("-", "0")]
    return ", ".join(w for w in words if w)


def marks_for(group, x, scale):
    hold = bdp(group[0])
    if x != "window" or not hold:
        return ()
    return ((hold / scale, "BDP %.3g MiB" % (hold / 1048576)),)


def published_against(published, group, x, quantity, scale):
    """Those of the same direction that tell what x was."""
    points = {}
    for row in published:
        at = amount(row.get(x))
        if at is None or row["direction"] not in ("-", group[0].direction):
            continue
        value = published_point(row, at / scale, quantity)
        if value is not None:
            points.setdefault("published: " + row["short"], []).append(value)
    return [Series(name, "published", found, i)
            for i, (name, found) in enumerate(points.items())]


def differing(mine):
    return tuple(c for c in stats.CONDITIONS if c != "cell" and
                 len({given(r, c) for r in mine}) > 1)


def section_matrix(rows, mine, published):
    beside = [x for x in published if x["streams"] == "1"]
    out = sweeps(rows, mine, "window", "window ceiling", scale=1048576,
                 split=("program",), logx=True, logy=True)
    out += sweeps(rows, mine, "rtt_ms", "RTT, ms", logx=True, logy=True,
                  published=beside)
    out += sweeps(rows, mine, "loss", "loss, %", logy=True)
    out += sweeps(rows, mine, "rate", "rate of the path, Mbit/s", scale=1e6,
                  logx=True, logy=True)
    out += rows_table(rows, mine, "All of the matrix.", differing(mine))
    return out + published_table(published)


def section_sessions(rows, mine, published):
    """Against the number of sessions; busy ones side by side."""
    out = ""
    for quantity, called in (("kib", "Memory per session"),
                             ("ms", "Time of a login")):
        out += sweeps(rows, mine, "streams", "sessions", quantity,
                      called=called, said=(), split=("program", "mode"),
                      logx=True)
    for some in grouped(mine, ("streams",)).values():
        for quantity, these, names, series in compared(
                rows, [r for r in some if r.direction != "-"]):
            caption = caption_of(quantity, these, "per session, %s busy "
                                 "sessions" % given(some[0], "streams"))
            svg = figure.dots(caption, names, series, UNIT_NAME[quantity])
            out += drawing(svg, caption + ".", below(these))
    out += rows_table(rows, mine, "Sessions.", differing(mine))
    return out + published_table(published)


def section_cross(rows, mine, published):
    out = sweeps(rows, mine, "load", "UDP load, % of the link",
                 split=("program", "mode"))
    out = out or section_compared(rows, mine, ())
    out += rows_table(rows, mine, "Under cross traffic.", differing(mine))
    return out + published_table(published)


def section_files(rows, mine, published):
    """Milliseconds per file; a set of files has a figure each way."""
    out = ""
    for group in grouped(mine, ("set", "direction")).values():
        tiny = [x for x in published if x["bytes"] == "3"] \
            if group[0].mode.endswith(" x 3") else []
        out += sweeps(rows, group, "rtt_ms", "RTT, ms", "ms",
                      called="Time per file", said=("rate", "cc"),
                      published=tiny, split=("program", "tool"), logx=True,
                      logy=True, bare=("stock",), height=430)
    out = out or section_compared(rows, mine, (), "Time per file")
    out += rows_table(rows, mine, "Time per file.", differing(mine))
    return out + published_table(published)


def section_ftp(rows, mine, published):
    """The table of 2009 beside ours: rates, and shares of what FTP did."""
    out = []
    for some in grouped(mine, ("mode",)).values():
        size = stats.median(some[0].column("bytes") or [0])
        beside = {x["beside"]: x for x in published
                  if stats.number(x["bytes"]) == size and x["beside"] != "-"}
        caption = "One file of %s, more is better" % some[0].mode
        names = list(dict.fromkeys([r.program for r in some] + list(beside)))
        call = {n: "scp, " + n if n.split("-")[0] in ("stock", "hayate") else n
                for n in names}
        series = [Series("measured", "hayate", list(filter(None, (
            point(rows, r, "rate", call[r.program]) for r in some))), None),
            Series("published", "published", [
                published_point(x, call[n], "rate")
                for n, x in beside.items()], None)]
        svg = figure.dots(caption, list(call.values()), series,
                          "MB/s, login included")
        out.append(drawing(svg, caption + ".", below(some)))
        out.append(ftp_table(some, call, beside))
    out.append(rows_table(rows, mine, "All of it."))
    return "".join(out) + published_table(published)


def section_seal(rows, mine, published):
    """Ciphers down the side; what is done with packets of which size tells
    marks apart."""
    out = []
    for some in grouped(mine, ("place",)).values():
        series = [Series(mode, mode, list(filter(None, (
            point(rows, r, "rate", r.program) for r in these))), None)
            for (mode,), these in grouped(some, ("mode",)).items()]
        caption = "Bytes for a second of CPU time, " + where(some[0])
        svg = figure.dots(caption, list(dict.fromkeys(
            r.program for r in some)), series, "MB/s")
        out.append(drawing(svg, caption + ".", conditions_text(some)))
    out.append(rows_table(rows, mine, "Sealing and opening alone.",
                          differing(mine)))
    return "".join(out)


def section_threads(rows, mine, published):
    out = []
    for some in grouped(mine, ("place",)).values():
        kinds = {}
        for r in some:
            half, size, cipher = r.mode.split(" ", 2)
            kinds.setdefault((half, size), {}).setdefault(
                cipher, {})[r.program] = r
        for (half, size), ciphers in kinds.items():
            out.append(cores_figure("%s packets of %s, %s" % (
                half, size, where(some[0])), amount(size), rows, ciphers))
    out.append(rows_table(rows, mine, "On several cores.", differing(mine)))
    return "".join(out)


# For the model, and what bounds it: in the table alone
NOT_DRAWN = ("1-core", "apart")


def cores_of(program):
    """2-cores and the like; off is serial code. 1-core is for the model."""
    return {"off": 1, "1-core": None}.get(program) or \
        stats.number(program.partition("-")[0])


def cores_figure(what, packet, rows, ciphers):
    """Rate against cores, measured and as the model has it."""
    series, said = [], []
    for i, (cipher, by) in enumerate(ciphers.items()):
        series.append(Series("measured: " + cipher, "measured", list(
            filter(None, (point(rows, r, "rate", cores_of(n))
                          for n, r in by.items() if n not in NOT_DRAWN))), i))
        m = modelled(packet, by)
        if m is None:
            said.append("%s: no prediction, the noise is larger than what it "
                        "would be made of" % cipher)
            continue
        rate = [packet / model.packet_time(m, k) / 1e6 for k in model.CORES]
        series.append(Series("model: " + cipher, "model", [
            Point(k, v, v, v, False) for k, v in zip(model.CORES, rate)], i))
        said.append(model_text(cipher, packet, m))
    caption = "Rate against cores: %s (more is better)" % what
    svg = figure.lines(caption, series, "cores", UNIT_NAME["rate"], logx=True,
                       logy=True, height=430,
                       bare={"measured"})
    return drawing(svg, caption + ".", tag("ul", *(
        tag("li", esc(text), ".") for text in said), class_="limits"),
        conditions_text([r for by in ciphers.values() for r in by.values()]))


def modelled(packet, by):
    """The model of one cipher's rows, if they are all there."""
    runs = {}
    for name in ("1-core", "2-cores"):
        if name not in by or not by[name].values("rate"):
            return None
        crypto = [stats.number(x["procs"].partition("crypto_s=")[2]) * packet /
                  float(x["bytes"]) for x in by[name].lines
                  if x["status"] == "0" and "crypto_s=" in x["procs"]]
        runs[name] = model.Run(packet / stats.median(by[name].values("rate")),
                               stats.median(crypto) if crypto else 0)
    return model.fit(runs["1-core"], runs["2-cores"])


def model_text(cipher, packet, m):
    most = model.enough(m)
    limit = "More than %.0f cores bring nothing: " % math.ceil(most)
    if most > model.CORES[-1]:
        limit = "With %d cores it still gains: only beyond %.0f " % (
            model.CORES[-1], most)
    return ("%s: a packet takes %.1f us of crypto and %.1f us of its owner; "
            "handing it over and waiting cost %.1f us, and on two cores "
            "crypto takes %.2f times as long. %sthe owner, who does all else, "
            "is the limit, at %.0f MB/s" % (
                cipher, m.crypto * 1e6, m.serial * 1e6, m.handover * 1e6,
                1 + m.traffic, limit, packet / model.owner(m) / 1e6))


FTP = "ftp-pure-ftpd"       # what the others are a share of


def ftp_table(some, call, beside):
    rate = {r.program: stats.median(r.values("rate")) / 1e6 for r in some
            if r.values("rate")}
    old = {n: float(x["value"]) for n, x in beside.items()}

    def cells(of, n):
        share = "%.2f" % (of[n] / of[FTP]) if n in of and FTP in of else "-"
        return ("%.1f" % of[n] if n in of else "-", share)
    return grid(("receiver and sender", "published as", "MB/s, 2009",
                 "x ftp, 2009", "MB/s, measured", "x ftp, measured"),
                [(called, beside[n]["what"] if n in beside else "-") +
                 cells(old, n) + cells(rate, n) for n, called in call.items()],
                "Published and measured: %s. Different machines and links: "
                "compare the shares of FTP." % some[0].mode, {0, 1},
                lambda b: "hayate" in b[0])


# Sections, in the order of the page

CELLS = {
    "path": ("One stream over a long path",
             "Does a transfer fill 1 Gbit/s, as iperf3 does?",
             section_compared),
    "path512": ("A shorter file over a long path",
                "How much of a 512 MiB file is lost to the start?",
                section_compared),
    "sender": ("Towards a stock sender",
               "What does a receiving Hayate win where stock sends?",
               section_compared),
    "forward": ("Multiplexing and forwards",
                "Does bulk through a forward go as fast as a session's own?",
                section_compared),
    "slow": ("A slow reader", "Does a larger window hurt a slow reader?",
             section_compared),
    "loopback": ("No path at all", "Does anything cost where nothing can be "
                 "won?", section_compared),
    "self": ("A host to itself", "Which process is the limit, by cipher and "
             "direction?", section_self),
    "seal": ("Sealing and opening alone", "What does a cipher cost where "
             "nothing else does, and data in clear?", section_seal),
    "threads": ("On several cores", "What does another core bring to sealing "
                "and opening, and what would more bring?", section_threads),
    "matrix": ("Window, streams, RTT and loss", "What does a window do, and "
               "from where on is it enough?", section_matrix),
    "ftp": ("Beside FTP", "What is lost by taking scp where FTP would do, in "
            "2009 and now?", section_ftp),
    "files": ("Many files", "How long does one file take, where there are "
              "many?", section_files),
    "cross": ("Under cross traffic", "What is left when others use the link?",
              section_cross),
    "bottleneck": ("Limits made on purpose", "Is what limits named?",
                   section_compared),
    "sessions": ("Many sessions", "What does a session cost a host that has "
                 "many, and what do they cost the next login?",
                 section_sessions),
    "memory": ("Memory of a receiver", "What does a large window cost?",
               section_compared),
    "idle": ("Memory of an idle connection", "What does it cost to be there?",
             section_compared),
    "echo": ("Keystrokes beside bulk", "Does bulk delay the keystrokes on its "
             "connection?", section_compared),
}


def section(rows, cell, published):
    mine = [r for r in rows.values() if given(r, "cell") == cell]
    title, question, build = CELLS.get(cell, (cell, "", section_plain))
    inside = build(rows, mine, published_for(published, cell))
    return tag("section", tag("h2", esc(title), " ", tag("code", esc(cell))),
               "\n", p(question) if question else "", inside, id=cell) + "\n"


def verdicts(rows):
    for row in rows.values():
        for target in filter(None, row.targets):
            yield row, target, stats.judge(rows, row, target)


def kind_of(verdict):
    if "void" in verdict or "noise" in verdict:
        return "void"
    return verdict.split()[0] if verdict.split()[0] in ("met", "missed") \
        else "not judged"


def summary(rows):
    """How many targets were met, and those that were not."""
    all_ = [(r, t, v, kind_of(v)) for r, t, v in verdicts(rows)]
    if not all_:
        return p("No row here has a target.")
    many = {k: sum(1 for x in all_ if x[3] == k)
            for k in ("met", "missed", "void", "not judged")}
    out = p("Targets: %d met, %d missed, %d void (the noise is larger than "
            "the difference), %d not judged." % tuple(many.values()))
    rest = [(given(r, "cell"), where(r), speak("cipher", given(r, "cipher")),
             r.mode, r.direction, r.program, t, v)
            for r, t, v, k in all_ if k in ("missed", "not judged")]
    if rest:
        out += grid(("cell", "over", "cipher", "what", "way", "program",
                     "target", "verdict"), rest,
                    "Targets that were missed, or could not be judged.",
                    range(8))
    return out


def files_section(sittings):
    body = [(s.name, s.date[:16].replace("T", " "),
             several(x["commit"] for x in s.lines), str(len(s.lines)),
             several(c[0] for c in s.used) or "nothing: newer ones have it")
            for s in sittings]
    flags = dict.fromkeys(f.strip() for s in sittings for x in s.lines
                          for f in (x.get("builds") or "").split(";")
                          if s.used and f.strip(" -"))
    return tag("section", tag("h2", "Where this is from"), "\n",
               grid(("file", "date", "commit", "lines", "used for"), body,
                    "Of each cell and set of conditions the newest sitting "
                    "counts, unless it was interrupted there.", {0, 1, 2, 4}),
               "".join(p("Compiled: " + f, "conditions") for f in flags),
               id="data") + "\n"


HOW = """A mark is the median of the runs, the bar through it reaches from the \
smallest to the largest. Rates are bytes over the time of the whole process \
less a median login, in MB/s of 1e6 bytes. A comparison is void where two \
ranges overlap by more than the medians differ: it says nothing, and a ring \
around the mark or the word in the table says so. CPU is user and system time \
of the near and of the far process tree for 1e9 bytes. Published figures are \
quoted with their source and were not measured here."""

def whole(sittings, published):
    rows = choose(sittings)
    found = dict.fromkeys(given(r, "cell") for r in rows.values())
    cells = [c for c in CELLS if c in found] + \
        [c for c in found if c not in CELLS]
    links = "".join(tag("li", tag("a", esc(CELLS.get(c, (c,))[0]),
                                  href="#" + c)) + "\n" for c in cells)
    links += tag("li", tag("a", "Where this is from", href="#data")) + "\n"
    return document(
        "Hayate: what was measured",
        p("Hayate beside stock OpenSSH of the same release and others, one "
          "section for each question."), p(HOW),
        tag("nav", tag("ul", "\n", links)), "\n", summary(rows),
        "".join(section(rows, c, published) for c in cells),
        files_section(sittings))


def arguments(argv):
    out, files = None, []
    while argv:
        word = argv.pop(0)
        if word in ("-h", "--help"):
            print(__doc__.strip())
            sys.exit()
        elif word == "-o" and argv:
            out = argv.pop(0)
        elif word.startswith("-"):
            sys.exit(__doc__.strip())
        else:
            files.append(word)
    where_ = os.path.join(BUILD, "bench")
    if not files and os.path.isdir(where_):
        files = [os.path.join(where_, f) for f in sorted(os.listdir(where_))
                 if f.endswith(".tsv")]
    return out or os.path.join(where_, "report.html"), files


def main(argv):
    out, files = arguments(argv)
    try:
        sittings = [s for s in map(Sitting, files) if s.lines]
    except OSError as e:
        die("%s: %s" % (e.filename, e.strerror))
    if not sittings:
        die("no measurements in %s: run make bench first" %
            (", ".join(files) or os.path.dirname(out)))
    try:
        text = whole(sittings, read_published())
    except figure.Missing:
        die("no gnuplot: it is in the package " + figure.PACKAGE)
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)
    print("report: %s, %d figures" % (os.path.normpath(out),
                                      text.count("<figure>")))


if __name__ == "__main__":
    main(sys.argv[1:])
