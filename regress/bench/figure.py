# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
figure: medians and ranges as SVG inside a page, drawn by gnuplot.

dots() has names down the side and values across; lines() has numbers on both
axes. Both take series of points; a point is a median with the smallest and the
largest of its runs.

Colour alone says nothing: each series has its own mark and dash, and a point
whose comparison is void has a ring around it. Colours are classes that the
page defines, for light, dark and paper. The SVG needs no script, font or file
from outside, and its ids are unique in the page.
"""

import html
import math
import re
import subprocess
import textwrap
from collections import namedtuple

# x is a number, or for dots() one of the names. low..high are the range.
Point = namedtuple("Point", "x mid low high void")
# shape: which of SHAPES, or None for that of its kind
Series = namedtuple("Series", "name kind points shape")

PACKAGE = "gnuplot-nox"
WIDTH = 820

# gnuplot's numbers of an open and of a filled mark
SHAPES = ((6, 7), (4, 5), (8, 9), (12, 13), (10, 11), (14, 15))
# kind: shape, filled, dash, colour class
KINDS = {
    "hayate": (0, True, "1", 1),
    "stock": (1, False, "(12,6)", 2),
    "iperf3": (None, False, "(3,4)", 3),
    "published": (3, False, "(2,6)", 4),
}
OTHERS = ((2, True, "(14,4,3,4)", 5), (4, False, "(8,3)", 6),
          (1, True, "(4,8)", 3), (5, True, "(16,3,3,3,3,3)", 4),
          (0, False, "(6,3)", 1), (3, True, "(10,10)", 2))
CROSSES, RING = (2, 1, 3), 6
GRID, RINGED = 9, 8         # colour classes

# Hollow marks; they are filled with the colour of the page.
OPEN = {3, 5, 7, 9, 11, 13}


class Missing(Exception):
    """There is no gnuplot."""


def quoted(text):
    return '"%s"' % str(text).replace("\\", "\\\\").replace('"', '\\"')


def style(series, seen):
    """Mark, dash and colour class. Kinds that KINDS lacks take from OTHERS."""
    if series.kind not in KINDS and series.kind not in seen:
        seen[series.kind] = OTHERS[len(seen) % len(OTHERS)]
    shape, filled, dash, colour = KINDS.get(series.kind) or seen[series.kind]
    if series.shape is not None:
        if shape is None:
            return CROSSES[series.shape % len(CROSSES)], dash, colour
        shape = series.shape % len(SHAPES)
    mark = CROSSES[0] if shape is None else SHAPES[shape][filled]
    return mark, dash, colour


def colour(number):
    return 'lc rgb "#%02x%02x%02x"' % (number, number, number)


def head(height):
    return [
        "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,14'"
        % (WIDTH, height),
        "set encoding utf8", "set tics nomirror out", "set border 3",
        "set grid lt 1 dt (1,4) lw 1 " + colour(GRID),
        "set bars 0.6"]


def key(names):
    """The key stands above the plot, in as many columns as fit the figure.
    gnuplot itself would use the plot's width and cut names off."""
    columns = max(1, int(WIDTH / (8.4 * max(map(len, names)) + 100)))
    rows = -(-len(names) // columns)
    return ["set key at screen 0.01, screen 0.995 left top vertical Left "
            "reverse samplen 4 maxrows %d" % rows,
            "set tmargin %.2f" % (1.1 * rows + 1)]


def height_of_key(names):
    return 20 * int(key(names)[0].split()[-1])


def block(name, rows):
    return ["$%s << EOD" % name] + \
        [" ".join("%.9g" % v for v in row) for row in rows] + ["EOD"]


def axis(which, label, log, values):
    """A linear axis starts at zero, so that differences keep their size."""
    text = ["set %slabel %s" % (which, quoted(label + (", log scale" if log
                                                        else "")))]
    if log:
        low, high = min(values) / 1.5, max(values) * 1.5
        text += ["set logscale %s 10" % which,
                 "set %srange [%.9g:%.9g]" % (which, low, high)]
        if high < 200 * low:
            text.append("set %stics %s" % (which, ticks(few(low, high), {})))
    else:
        text.append("set %srange [0:%.9g]" % (which, max(values) * 1.08 or 1))
    return text


def few(low, high):
    """1, 2, 5, 10 and so on from low to high."""
    first = math.floor(math.log10(low))
    all_ = (m * 10.0 ** e for e in range(first, first + 5) for m in (1, 2, 5))
    return [v for v in all_ if low <= v <= high]


def wide(values):
    """Whether values are too far apart for one linear axis."""
    some = [v for v in values if v > 0]
    return bool(some) and len(some) == len(values) and \
        max(some) > 12 * min(some)


def ticks(values, named):
    """Tick labels at these values only; named gives some another text."""
    return "(%s)" % ", ".join('"%s" %.9g' % (named.get(v, "%g" % v), v)
                              for v in sorted(set(values)))


def wrapped(name):
    """Lines of a long name."""
    return textwrap.wrap(name, 40) or [name]


def dots(caption, names, series, label, together=False):
    """Values across, one band for each name, the first at the top. In a band
    the series lie one below the other, or together on one line."""
    series = [s for s in series if s.points]
    values = [v for s in series for p in s.points for v in (p.low, p.high)]
    having = {n: [s for s in series if any(p.x == n for p in s.points)]
              for n in names}
    names = [n for n in names if having[n]]
    most = 1 if together else max(map(len, having.values()))
    deepest = max(len(wrapped(n)) for n in names)
    text = head(75 + height_of_key([s.name for s in series] + [VOID]) +
                len(names) * max(24 if together else 36, 17 * most,
                                 19 * deepest))
    text += axis("x", label, wide(values), values)
    at = {name: len(names) - i for i, name in enumerate(names)}
    # gnuplot takes a tick's name as a format, so % is doubled.
    text += ["set yrange [0.5:%g]" % (len(names) + 0.5), "set grid noytics",
             "set ytics scale 0 (%s)" % ", ".join("%s %d" % (
                 "\\n".join(map(quoted, wrapped(n.replace("%", "%%")))).replace(
                     '"\\n"', "\\n"), y) for n, y in at.items())]
    text += ["set arrow from graph 0,first %g to graph 1,first %g nohead front "
             "lt 1 dt (1,3) %s" % (y + 0.5, y + 0.5, colour(GRID))
             for y in range(1, len(names))]
    plots, rings, seen = [], [], {}
    for i, s in enumerate(series):
        rows = [(p.mid, at[p.x] + (0 if together else shift(s, having[p.x])),
                 p.low, p.high) for p in s.points]
        text += block("s%d" % i, rows)
        mark, _, shade = style(s, seen)
        how = "1:2 with points" if together else "1:2:3:4 with xerrorbars"
        plots.append(("$s%d using %s pt %d ps 0.95 lw 1.6 %s title %s" % (
            i, how, mark, colour(shade), quoted(s.name)), s.name))
        rings += [row[:2] for row, p in zip(rows, s.points) if p.void]
    return drawn(text, plots, rings, caption)


def shift(series, among):
    """The place of a series in its band."""
    n = len(among)
    return ((n - 1) / 2 - among.index(series)) * 0.72 / max(n, 2)


def lines(caption, series, xlabel, ylabel, logx=False, logy=False, marks=(),
          named=None, bare=(), height=370):
    """marks are vertical lines, as (x, text). named gives values of x another
    text. Kinds in bare have marks without lines between them."""
    series = [s for s in series if s.points]
    xs = [p.x for s in series for p in s.points] + [x for x, _ in marks]
    ys = [v for s in series for p in s.points for v in (p.low, p.high)]
    logx, logy = logx and min(xs) > 0, logy and min(ys) > 0
    text = head(height + height_of_key([s.name for s in series] + [VOID])) + \
        axis("x", xlabel, logx, xs) + \
        axis("y", ylabel, logy, ys)
    measured = {p.x for s in series for p in s.points if s.kind != "published"}
    if len(measured) < 10:
        text.append("set xtics " + ticks(measured, named or {}))
    for x, name in marks:
        text += ["set arrow from first %.9g,graph 0 to first %.9g,graph 1 "
                 "nohead dt (6,3,1,3) lw 1.3" % (x, x),
                 "set label %s at first %.9g,graph 0.03 %s" % (
                     quoted(name), x, "right offset -0.6,0"
                     if x * x > min(xs) * max(xs) else "offset 0.6,0")]
    plots, rings, seen = [], [], {}
    for i, s in enumerate(series):
        points = sorted(s.points)
        text += block("s%d" % i, [p[:4] for p in points])
        mark, dash, shade = style(s, seen)
        shade = colour(shade)
        how = "points" if s.kind in bare else "linespoints dt " + dash
        plots.append(("$s%d using 1:2 with %s pt %d ps 0.95 lw 1.6 %s title %s"
                      % (i, how, mark, shade, quoted(s.name)), s.name))
        plots.append(("$s%d using 1:2:3:4 with yerrorbars pt %d ps 0.95 dt 1 "
                      "lw 1.3 %s notitle" % (i, mark, shade), None))
        rings += [(p.x, p.mid) for p in points if p.void]
    return drawn(text, plots, rings, caption)


VOID = "ring: void against stock"


def drawn(text, plots, rings, caption):
    """plots are pairs: what to plot, and its name in the key or None."""
    if rings:
        text += block("rings", rings)
        plots.append(("$rings with points pt %d ps 1.9 lw 1.2 %s title %s" % (
            RING, colour(RINGED), quoted(VOID)), VOID))
    text += key([name for _, name in plots if name])
    text.append("plot " + ", ".join(what for what, _ in plots))
    return embedded(gnuplot("\n".join(text) + "\n"), caption)


def gnuplot(script):
    try:
        out = subprocess.run(["gnuplot"], input=script.encode(),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise Missing()
    svg = out.stdout.decode()
    if out.returncode or not svg.rstrip().endswith("</svg>"):
        raise RuntimeError("gnuplot: %s\n%s" % (out.stderr.decode(), script))
    return svg


def classed(match):
    """A colour becomes a class: s for a stroke, c for what inherits it."""
    return "class='%s%d'" % (match.group(1)[0], int(match.group(2)))


def opened(match):
    if int(match.group(1)) not in OPEN or "'c%d'" % RINGED in match.group(0):
        return match.group(0)
    return match.group(0).replace("class='", "class='open ")


count = 0


def embedded(svg, caption):
    """gnuplot's file, changed into a part of a page."""
    global count
    count += 1
    name = "fig%d" % count
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<svg[^>]*?(viewBox=\"0 0 (\d+) (\d+)\")[^>]*>",
                 r'<svg \1 width="\2" height="\3" role="img" '
                 r'aria-labelledby="%s-title">' % name, svg, count=1)
    svg = re.sub(r"<title>Gnuplot</title>\s*<desc>.*?</desc>",
                 '<title id="%s-title">%s</title>' % (
                     name, html.escape(caption)), svg, count=1, flags=re.S)
    svg = re.sub(r"<filter .*?</filter>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<rect x=\"0\" y=\"0\"[^>]*fill=\"none\"/>\s*", "", svg)
    svg = re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)
    svg = svg.replace(' class="gridline"', "")
    svg = re.sub(r"(id='gpPt\d+' stroke-width=)'[0-9.]+'", r"\1'0.28'", svg)
    svg = re.sub(r"(stroke|color)=['\"]rgb\( *(\d+), *\d+, *\d+\)['\"]",
                 classed, svg)
    svg = re.sub(r" color=\"(black|#FFFFFF)\"", "", svg)
    svg = re.sub(r"(stroke|fill)=(['\"])black\2", r"\1=\2currentColor\2", svg)
    svg = svg.replace("xlink:href", "href")
    svg = svg.replace(' font-family="sans-serif"', "")
    svg = re.sub(r"<use href='#gpPt(\d+)' transform='translate[^>]*>", opened,
                 svg)
    svg = re.sub(r"id=(['\"])(\w+)\1", r"id=\1%s-\2\1" % name, svg)
    svg = svg.replace("id=\"%s-%s-title\"" % (name, name),
                      "id=\"%s-title\"" % name)
    return re.sub(r"href='#", "href='#%s-" % name, svg)
