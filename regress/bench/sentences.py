# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
sentences: the words and the tables that stand beside a figure.

A caption says what a figure shows and how the rows were chosen. Below it stand
what limited each row and all conditions of the measurement. A table repeats
the rows in numbers.
"""

import re
from statistics import median

import stats
from page import esc, grid, p, tag
from units import amount, number

BUSY = 0.8          # share of all cores from which on these are the limit
SAID_EACH = 4       # rows that have a sentence each; of more, each kind has one
LISTED = 6          # names in a sentence; more are counted


# Names of features

NAMES = {"rtt_ms": "RTT ms", "load": "cross traffic", "cc": "control"}
AGAINST = {"rtt_ms": "RTT", "load": "cross traffic",
           "window": "window ceiling",
           "streams": "how many there are at once", "rate": "the path's rate"}
FORMS = {"rtt_ms": "RTT %s ms", "window": "window %s", "load": "load %s",
         "loss": "loss %s", "streams": "%s streams"}
FEATURES = ("program", "mode", "direction") + stats.CONDITIONS[1:]


def speak(name, value):
    """A feature in words: RTT 24 ms, 8 streams, aes128-gcm."""
    if (name, value) == ("streams", "1"):
        return "1 stream"
    if name == "cipher":
        return re.sub(r"(-etm)?@[\w.]+", "", value)
    return FORMS.get(name, "%s") % value


def labels(rows):
    """A short name for each row: the features in which the rows differ."""
    vary = [f for f in FEATURES if len({r.feature(f) for r in rows}) > 1]
    return [" ".join(speak(f, r.feature(f)) for f in vary
                     if r.feature(f) != "-") or r.program for r in rows]


def where(row):
    """The conditions that a caption names."""
    given = row.given
    parts = [given["place"]]
    if given["place"] == "path":
        parts = ["a path of %(rtt_ms)s ms, %(rate)s" % given]
        if given["loss"] not in ("0", "-"):
            parts.append("loss " + given["loss"])
    for name, form in (("window", "window ceiling %s"), ("load", "load %s")):
        if given[name] != "-":
            parts.append(form % given[name])
    if given["streams"] not in ("1", "-"):
        parts.append(given["streams"] + " streams")
    return ", ".join(parts)


def what_of(group, x, said):
    """The features that the rows of a group share, except x."""
    def same(f):
        values = {r.feature(f) for r in group}
        return values.pop() if len(values) == 1 else "-"
    words = [same("mode") if same("mode") != "-" else same("set"),
             same("direction")]
    words = [" ".join(w for w in words if w and w != "-")]
    words += [speak(f, same(f)) for f in said
              if f != x and same(f) not in ("-", "0")]
    return ", ".join(w for w in words if w)


QUANTITIES = {"rate": ("Rate", "without login; more is better"),
              "seconds": ("Time", "of the whole process; less is better"),
              "kib": ("Memory", "less is better"),
              "ms": ("Latency", "less is better")}


def caption_of(quantity, some, what, called=None):
    name, better = QUANTITIES[quantity]
    if quantity == "rate" and not any(
            number(x["login"]) for r in some for x in r.lines):
        better = better.replace("without login", "login included")
    return "%s %s (%s)" % (called or name, what, better)


# Conditions

def several(values, most=4):
    some = list(dict.fromkeys(v for v in values if v and v != "-"))
    if len(some) > most:
        return "%s and %d more" % (", ".join(some[:most]), len(some) - most)
    return ", ".join(some)


def extent(values):
    some = sorted(v for v in map(number, values) if v is not None)
    return " to ".join(dict.fromkeys("%g" % v for v in some[:1] + some[-1:]))


def programs_of(lines):
    named = dict.fromkeys((x["program"], x["version"]) for x in lines)
    return ", ".join("%s is %s" % pair for pair in named)


def in_words(rows):
    """All conditions of rows, as (name, value)."""
    lines = [x for r in rows for x in r.lines]

    def listed(column, most=4):
        return several((x[column] for x in lines), most)
    days = sorted(x["date"][:16].replace("T", " ") for x in lines)
    rtt = extent(x["rtt_ms"] for x in lines)
    return (("date", " to ".join(dict.fromkeys(days[:1] + days[-1:]))),
            ("commit", listed("commit")), ("programs", programs_of(lines)),
            ("runs", extent(len(r.lines) for r in rows)),
            ("place", listed("place")), ("RTT", rtt and rtt + " ms"),
            ("rate", listed("rate")), ("loss", listed("loss", 8)),
            ("congestion control", listed("cc")),
            ("cipher", listed("cipher", 8)),
            ("window ceiling", listed("window", 8)),
            ("streams", listed("streams", 8)),
            ("cross traffic", listed("load", 8)),
            ("kernel", listed("kernel")), ("cpu", listed("cpu")),
            ("cores", listed("cores")), ("libcrypto", listed("libcrypto")),
            ("load average", extent(x["loadavg"] for x in lines)),
            ("file", listed("file")))


def conditions_text(rows):
    said = ("%s %s" % (n, v) for n, v in in_words(rows) if v)
    return p("Conditions: " + "; ".join(said) + ".", "conditions")


# Limits

def limit_of(row):
    """"kind: more", or nothing. limits.py knows it where the processes were
    recorded; elsewhere it follows from other figures of the row."""
    said = stats.causes(row)
    if said:
        return said[0].strip().partition(": ")[2]
    if row.is_login() or not row.lines:
        return ""
    return {"files": round_trips, "cross": link_left}.get(
        row.given["cell"], cores_busy)(row)


def round_trips(row):
    """Round trips for one file; None if the RTT is below 1 ms."""
    rtt, ms = number(row.given["rtt_ms"]), row.values("ms")
    if not ms or not rtt or rtt < 1:
        return ""
    return "round trips: %.1f of them for each file, the login's included" % (
        median(ms) / rtt)


def link_left(row):
    rate, load = row.path_rate(), amount(row.given["load"])
    if not row.values("rate") or rate is None or load is None:
        return ""
    return "the link: beside a load of %g %% it has %.1f MB/s left, headers " \
        "included, and %.1f came" % (load, rate * (1 - load / 100) / 1e6,
                                     median(row.values("rate")) / 1e6)


def cores_busy(row):
    """Cores that the processes at both ends used together."""
    each = [[number(x[c]) for c in ("cpu_near", "cpu_far", "seconds")]
            for x in row.lines]
    shares = [(near + far) / t for near, far, t in
              (x for x in each if None not in x) if t > 0]
    cores = number(row.lines[0]["cores"])
    if not shares or not cores or median(shares) < BUSY * cores:
        return ""
    return "the machine's cores: %.1f of %d busy" % (median(shares), cores)


def some_of(names, total):
    if len(names) <= LISTED:
        return ", ".join(names)
    return "%d of these %d" % (len(names), total)


def limit_item(kind, found, total):
    """One sentence for rows of the same limit, with the first as example."""
    name, said = found[0]
    example = "" if kind == said else "; for instance %s: %s" % (
        name, said.partition(": ")[2])
    return tag("li", "What limits ", esc(some_of(
        [n for n, _ in found], total)), ": ", tag("b", esc(kind)),
        esc(example), ".")


def limit_text(rows):
    by = {}
    for row, name in zip(rows, labels(rows)):
        said = limit_of(row)
        if said:
            kind = said.partition(":")[0] if len(rows) > SAID_EACH else said
            by.setdefault(kind, []).append((name, said))
    return bullets(limit_item(kind, found, len(rows))
                   for kind, found in by.items())


def bullets(items):
    items = list(items)
    return tag("ul", *items, class_="limits") if items else ""


def other_cipher_text(rows):
    """Names the programs that ran with another cipher than hayate."""
    found = {(row.program, line["version"].rpartition(" with ")[2])
             for row in rows for line in row.lines
             if " with " in line["version"]}
    return bullets(tag("li", esc(program), " ran with ", esc(cipher), ".")
                   for program, cipher in sorted(found))


def below(rows):
    """All that stands below a figure of these rows."""
    return other_cipher_text(rows) + limit_text(rows) + conditions_text(rows)


# Tables

HEAD = ("what", "direction", "program", "runs", "MB", "median", "min..max",
        "unit", "time s", "CPU s/GB near+far", "x stock", "x iperf3", "target")
OPTIONAL = range(8, len(HEAD))      # left out where no row has a value
WORDS = (0, 1, 2, 7, 12)


def body_line(row):
    """The row as stats.py renders it, with all of its targets in a cell."""
    each = [stats.render(row, t) for t in row.targets]
    at = each[0]
    beside = at["x stock"]
    if beside != "-" and row.is_void(row.quantity()):
        beside += " void"
    size = row.column("bytes")
    judged = (": ".join(x for x in (e["target"], e["verdict"]) if x not in
                        ("-", "x stock is void")) for e in each)
    return (row.mode, row.direction, row.program, at["runs"],
            "%.4g" % (median(size) / 1e6) if size and size[0] else "-",
            at["median"], at["min..max"], at["unit"], at["time s"],
            at["CPU s/GB"].replace("-+-", "-"), beside, at["x iperf3"],
            ", ".join(judged) or "-")


def rows_table(some, caption, extra=()):
    """extra: conditions that have a column of their own, in front."""
    n = len(extra)
    body = [tuple(r.given[e] for e in extra) + body_line(r) for r in some]
    head = tuple(NAMES.get(e, e) for e in extra) + HEAD
    keep = [i for i in range(len(head)) if i - n not in OPTIONAL or
            any(b[i] not in ("-", "") for b in body)]
    return grid([head[i] for i in keep], [[b[i] for i in keep] for b in body],
                caption, {k for k, i in enumerate(keep) if i - n in WORDS},
                lambda cells: "hayate" in cells)


def end_name(proc):
    return ("far " if proc.far else "") + proc.comm


def procs_of(row):
    usage = None if row.is_login() else row.usage()
    return usage.procs if usage else []


def process_line(q):
    name = end_name(q) + (" x %d" % q.count if (q.count or 0) > 1 else "")
    return (name, "%.0f" % ((q.busy or 0) * 100),
            "%.0f" % ((q.wait or 0) * 100), "%.2f" % q.user, "%.2f" % q.sys,
            stats.shown(q.switches, "%.0f"), stats.shown(q.calls, "%.0f"))


def process_table(some, label):
    """The processes of all rows that recorded them, busiest first."""
    body = [(label(row), row.program) + process_line(q) for row in some
            for q in sorted(procs_of(row), reverse=True,
                            key=lambda q: q.busy or 0)
            if q.user + q.sys >= 0.02 or q.busy]
    if not body:
        return ""
    return grid(("what", "program", "process", "busy %", "waits %", "user s",
                 "system s", "switches", "reads+writes"), body,
                "Processes at both ends, medians. Busy is the share of a core "
                "in the middle half of the run, waits the share of time "
                "without a core that was wanted.", {0, 1, 2},
                lambda cells: "hayate" in cells)
