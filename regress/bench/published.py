# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
published: figures that others have published (published.tsv).

They are quoted with their source, converted to our units, and drawn beside
what was measured here. They come from other machines and links, so they show
the shape of a curve rather than its height.
"""

import csv
import os
from statistics import median

from figure import Point, Series
from page import grid
from units import amount

HERE = os.path.dirname(os.path.abspath(__file__))
# Factors to our unit of a quantity
TO_UNIT = {"rate": {"MB/s": 1, "MiB/s": 1.048576, "Mbit/s": 0.125,
                    "Gbit/s": 125},
           "seconds": {"s": 1}, "ms": {"s": 1000}, "kib": {}}


def read():
    with open(os.path.join(HERE, "published.tsv"), newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def ends(x):
    """The value, or both ends of a range."""
    return [v for v in (x["value"], x["high"]) if v != "-"]


def converted(x, quantity):
    """ends() in our unit; empty if the figure is of another quantity."""
    factor = TO_UNIT[quantity].get(x["unit"])
    return [] if factor is None else [float(v) * factor for v in ends(x)]


def point(x, at, quantity):
    """None if the figure is of another quantity."""
    values = converted(x, quantity)
    if not values:
        return None
    return Point(at, median(values), values[0], values[-1], False)


def beside(figures, quantity):
    """A series for a figure that has names down the side."""
    points = (point(x, "published: " + x["short"], quantity) for x in figures)
    return Series("published", "published", list(filter(None, points)), None)


def against(figures, group, x, quantity, scale):
    """Series of those that state x, in the direction of the group's rows."""
    points = {}
    for row in figures:
        at = amount(row.get(x))
        if at is None or row["direction"] not in ("-", group[0].direction):
            continue
        found = point(row, at / scale, quantity)
        if found is not None:
            points.setdefault("published: " + row["short"], []).append(found)
    return [Series(name, "published", found, i)
            for i, (name, found) in enumerate(points.items())]


def table(figures):
    body = [(x["what"], x["rtt_ms"],
             "%.4g" % (float(x["bytes"]) / 1e6) if x["bytes"] != "-" else "-",
             x["streams"], " to ".join(ends(x)), x["unit"],
             " to ".join("%.4g" % v for v in converted(x, "rate")) or "-",
             x["conditions"], x["source"]) for x in figures]
    if not body:
        return ""
    return grid(("published", "RTT ms", "MB", "streams", "value", "unit",
                 "in MB/s", "conditions", "source"), body,
                "Published by others, on other machines and links: compare "
                "the shape, not the size.", {0, 5, 7, 8})
