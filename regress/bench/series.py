# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
series: from rows to what figure.py draws.

Rows under the same conditions are compared side by side, and rows that differ
in one condition, such as the RTT, are drawn against it. Published figures
(published.py) stand beside them.
"""

from statistics import median

import published

import stats
from figure import Point, Series
from sentences import speak
from units import amount

def point(row, quantity, x):
    """None if the row has no such quantity."""
    scale = stats.UNIT[quantity][0]
    values = [v / scale for v in row.values(quantity)]
    if not values:
        return None
    return Point(x, median(values), min(values), max(values),
                 row.is_void(quantity))


def series_of(name, kind, points, shape=None):
    """A series of those points that exist."""
    return Series(name, kind, [p for p in points if p is not None], shape)


def grouped(rows, names):
    """Lists of the rows that agree in the named features."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(map(row.feature, names)), []).append(row)
    return groups


def in_order(groups):
    """The lists of grouped(), sorted by their features; numbers as such."""
    def key(item):
        return [(amount(v) is None, amount(v) or 0, v) for v in item[0]]
    return [group for _, group in sorted(groups.items(), key=key)]


def differing(rows):
    """The conditions, other than the cell, in which rows differ."""
    return tuple(c for c in stats.CONDITIONS if c != "cell" and
                 len({r.given[c] for r in rows}) > 1)


# Rows under the same conditions, side by side

def mode_label(row):
    return (row.mode + " " + row.direction).rstrip(" -")


def compared(some, quoted=(), label=mode_label):
    """Quantity, rows, names and series of a figure for each quantity. The
    names stand down the side, and each program has a mark."""
    by_quantity = {}
    for r in some:
        if r.mode != "iperf3" and not r.is_login() and r.lines:
            by_quantity.setdefault(r.quantity(), []).append(r)
    for quantity, these in by_quantity.items():
        names = list(dict.fromkeys(map(label, these)))
        series = [series_of(program, program, (
            point(r, quantity, label(r)) for r in these
            if r.program == program))
            for program in dict.fromkeys(r.program for r in these)]
        if quantity == "rate":
            series.append(iperf3_beside(these, label))
        more = published.beside(quoted, quantity)
        yield (quantity, these, names + [at.x for at in more.points],
               series + [more])


def iperf3_beside(these, label):
    """One mark of iperf3 for each name."""
    found = {label(r): (r, r.reference("iperf3")) for r in these}
    return series_of("iperf3", "iperf3", (
        ref and point(ref, "rate", label(r)) for r, ref in found.values()))


# Rows against one condition

UNLIMITED = "unlimited"


def sweep(mine, x, quantity="rate", split=("program", "streams")):
    """Lists of rows that differ in x and, to tell series apart, in split
    alone. Only the lists with the most values of x are returned."""
    same = [c for c in stats.CONDITIONS if c != x and c not in split]
    same += [f for f in ("mode", "direction") if f not in split]
    if "tool" in split:
        same[same.index("mode")] = "set"
    groups = grouped((
        r for r in mine if r.mode != "iperf3" and not r.is_login() and
        r.values(quantity) and
        (amount(r.given[x]) is not None or r.given[x] == UNLIMITED)),
        same).values()
    count = [len({r.given[x] for r in g}) for g in groups]
    most = max(count, default=0)
    return [g for g, n in zip(groups, count) if n == most and most > 1]


def places(group, x, scale):
    """Positions on the axis by value of x. "unlimited" is drawn at four times
    the largest limit, or the BDP if that is larger."""
    at = {r.given[x]: amount(r.given[x]) for r in group}
    if UNLIMITED in at:
        at[UNLIMITED] = 4 * max(v for v in list(at.values()) + [group[0].bdp()]
                                if v is not None)
    return {text: v / scale for text, v in at.items()}


def swept(group, quantity, places_of, split):
    """The series of one group, and iperf3's. The program decides whether a
    mark is filled, the other features decide its shape."""
    rest = [f for f in split if f != "program" and
            len({r.feature(f) for r in group}) > 1]
    others = sorted({tuple(map(r.feature, rest)) for r in group},
                    key=lambda t: [(amount(v) or 0, v) for v in t])
    found = {}
    for r in group:
        at = places_of(r)
        found.setdefault((r.program, tuple(map(r.feature, rest))), {})[at] = \
            point(r, quantity, at)
        ref = r.reference("iperf3") if quantity == "rate" else None
        if ref is not None and ref.values("rate"):
            other = tuple(ref.feature(f) if f in stats.CONDITIONS else "-"
                          for f in rest)
            found.setdefault(("iperf3", other), {})[at] = point(
                ref, "rate", at)
    longest = max(map(len, found.values()))
    return [series_of(", ".join([program] + [
        speak(f, v) for f, v in zip(rest, other) if v != "-"]), program,
        points.values(),
        others.index(other) if rest and other in others else None)
        for (program, other), points in found.items()
        if len(points) > 1 or longest == 1]
