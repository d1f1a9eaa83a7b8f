# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
picture: the figure at the top of README.md, as a file of its own.

The rate of one scp get against the round-trip time, from the cell path512 with
--rtt. A reader has five seconds for it, so each line has its name and its last
value at its end instead of a key. A thin bar shows the range of the runs. The
background is white in every theme of the page around it.
"""

import re

import figure
from series import sweep, swept
from units import amount

NAME = "rtt.svg"
# program: name, colour, width, dash. Later ones lie on top.
LINES = {
    "iperf3": ("iperf3", "#5f6670", 3, "(2,3)"),
    "stock": ("OpenSSH", "#b3430a", 3, "1"),
    "hpn": ("HPN-SSH", "#7d3a86", 3, "1"),
    "hayate": ("Hayate", "#0a56a8", 4, "1"),
}
RTTS = 3            # the fewest that make a line
LEAST = 12          # MB/s between two names


def measured(rows):
    """The rows and the series of the figure, or two empty lists."""
    mine = [r for r in rows if r.given["cell"] == "path512" and
            r.direction == "get"]
    for group in sweep(mine, "rtt_ms", split=("program",)):
        series = [s for s in swept(group, "rate", lambda r: amount(
            r.given["rtt_ms"]), ("program",)) if s.kind in LINES]
        if min((len(s.points) for s in series), default=0) >= RTTS:
            return group, sorted(series,
                                 key=lambda s: list(LINES).index(s.kind))
    return [], []


def name_heights(series):
    """By kind, where the name stands: beside the last point, and clear of the
    name below."""
    at, below = {}, -LEAST
    for s in sorted(series, key=lambda s: max(s.points).mid):
        below = max(max(s.points).mid, below + LEAST)
        at[s.kind] = below
    return at


def script(series, title):
    xs = sorted({p.x for s in series for p in s.points})
    heights = name_heights(series)
    text = [
        "set terminal svg size 820,400 dynamic noenhanced "
        "background '#ffffff' font 'sans-serif,18'", "set encoding utf8",
        "unset key",
        "set tics nomirror out scale 0.5", "set border 3 lc rgb '#5f6670'",
        "set grid ytics lt 1 lw 1 lc rgb '#e3e6ea'", "set bars 0",
        "set lmargin 9", "set rmargin 17", "set tmargin 3.2",
        "set title %s font ',22'" % figure.quoted(title),
        "set xlabel 'round-trip time, ms'", "set ylabel 'MB/s'",
        "set logscale x", "set xrange [%g:%g]" % (xs[0] / 1.15, xs[-1]),
        "set yrange [0:125]", "set ytics 25",
        "set xtics " + figure.ticks(xs, {})]
    plots = []
    for i, s in enumerate(series):
        name, colour, width, dash = LINES[s.kind]
        text += figure.block("s%d" % i, [p[:4] for p in sorted(s.points)])
        text.append("set label %s at graph 1,first %g offset 0.9,0 "
                    "textcolor rgb '%s' font ',20'" % (figure.quoted(
                        "%s %.0f" % (name, max(s.points).mid)),
                        heights[s.kind], colour))
        plots += [
            "$s%d using 1:2:3:4 with yerrorbars pt 0 lw 1.5 dt 1 lc rgb '%s'"
            % (i, colour),
            "$s%d using 1:2 with linespoints pt 7 ps 0.9 lw %g dt %s "
            "lc rgb '%s'" % (i, width, dash, colour)]
    return "\n".join(text + ["plot " + ", ".join(plots)]) + "\n"


def drawn(rows):
    """The figure as SVG, or None if the rows for it were not measured."""
    group, series = measured(rows)
    if not series:
        return None
    size = max(v for r in group for v in r.column("bytes"))
    title = "scp of %.0f MiB over %s" % (
        size / 1048576, group[0].given["rate"].replace("gbit", " Gbit/s"))
    svg = re.sub(r"<title>Gnuplot</title>\s*<desc>.*?</desc>",
                 "<title>%s: MB/s by round-trip time</title>" % title,
                 figure.gnuplot(script(series, title)), count=1, flags=re.S)
    return re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)
