#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
report: what the benchmarks measured, as one HTML page.

Without files it reads all in build/bench; without -o the page is report.html
there. The page needs no other file and runs no script. If the cell path512 was
run at several RTTs, rtt.svg beside the page is the figure of README.md. The
parts of both come from

    sittings.py   the lines that count: of each set of conditions the newest
    sections.py   a section for each cell of the benchmark
    series.py     rows as the points of a figure; figure.py draws them as SVG
    sentences.py  captions, limits, conditions and tables
    published.py  figures that others have published
    picture.py    rtt.svg
    page.py       HTML
"""

import argparse
import glob
import os
import sys

sys.dont_write_bytecode = True      # the source tree stays clean
import figure                                               # noqa: E402
import picture                                              # noqa: E402
import published                                            # noqa: E402
import sittings                                             # noqa: E402
import stats                                                # noqa: E402
from page import document, esc, grid, p, tag                # noqa: E402
from sections import CELLS, section                         # noqa: E402
from sentences import several, speak, where                 # noqa: E402

BUILD = os.environ.get("HAYATE_BUILD") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "build")

HOW = """A mark is the median of the runs, the bar through it reaches from the \
smallest to the largest. Rates are bytes over the time of the whole process \
less a median login, in MB/s of 1e6 bytes. A comparison is void if two ranges \
overlap by more than the medians differ: the noise is then larger than the \
difference. A ring around the mark and the word in the table say so. CPU is \
user and system time of the near and of the far process tree for 1e9 bytes. \
Published figures are quoted with their source and were not measured here."""


def kind_of(verdict):
    if "void" in verdict or "noise" in verdict:
        return "void"
    word = verdict.split()[0]
    return word if word in ("met", "missed") else "not judged"


def summary(rows):
    """How many targets were met, and those that were not."""
    judged = [(r, t, stats.judge(r, t)) for r in rows.values()
              for t in r.targets if t]
    if not judged:
        return p("No row here has a target.")
    kinds = [kind_of(verdict) for _, _, verdict in judged]
    out = p("Targets: %d met, %d missed, %d void (the noise is larger than "
            "the difference), %d not judged." % tuple(
                map(kinds.count, ("met", "missed", "void", "not judged"))))
    rest = [(r.given["cell"], where(r), speak("cipher", r.given["cipher"]),
             r.mode, r.direction, r.program, t, v)
            for (r, t, v), kind in zip(judged, kinds)
            if kind in ("missed", "not judged")]
    if rest:
        out += grid(("cell", "over", "cipher", "what", "direction", "program",
                     "target", "verdict"), rest,
                    "Targets that were missed, or could not be judged.",
                    range(8))
    return out


def files_section(all_):
    body = [(s.name, s.date[:16].replace("T", " "),
             several(x["commit"] for x in s.lines), str(len(s.lines)),
             several(c[0] for c in s.used) or "nothing: newer ones have it")
            for s in all_]
    flags = dict.fromkeys(f.strip() for s in all_ if s.used for x in s.lines
                          for f in x["builds"].split(";") if f.strip(" -"))
    return tag("section", tag("h2", "Where this is from"), "\n",
               grid(("file", "date", "commit", "lines", "used for"), body,
                    "Of each cell and set of conditions the newest sitting "
                    "counts, unless it was interrupted there.", {0, 1, 2, 4}),
               "".join(p("Compiled: " + f, "conditions") for f in flags),
               id="data") + "\n"


def whole(all_, rows, quoted):
    by_cell = {}
    for row in rows.values():
        by_cell.setdefault(row.given["cell"], []).append(row)
    cells = [c for c in CELLS if c in by_cell] + \
        [c for c in by_cell if c not in CELLS]
    links = [(CELLS.get(c, (c,))[0], c) for c in cells]
    return document(
        "Hayate: what was measured",
        p("Hayate beside stock OpenSSH of the same release and others, one "
          "section for each question."), p(HOW),
        tag("nav", tag("ul", "\n", *(
            tag("li", tag("a", esc(title), href="#" + at)) + "\n"
            for title, at in links + [("Where this is from", "data")]))),
        "\n", summary(rows),
        "".join(section(c, by_cell[c], quoted) for c in cells),
        files_section(all_))


def die(text):
    sys.exit("report: %s" % text)


def arguments(argv):
    parser = argparse.ArgumentParser(
        "report.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="out", metavar="PAGE.html")
    parser.add_argument("files", nargs="*", metavar="FILE.tsv")
    given = parser.parse_args(argv)
    default = os.path.join(BUILD, "bench")
    return (given.out or os.path.join(default, "report.html"),
            given.files or sorted(glob.glob(default + "/*.tsv")))


def read(files):
    """The sittings that have lines; other files are named and left out."""
    for path in files:
        try:
            sitting = sittings.Sitting(path)
        except ValueError as e:
            print("report: left out %s: %s" % (path, e), file=sys.stderr)
            continue
        if sitting.lines:
            yield sitting


def main(argv):
    out, files = arguments(argv)
    try:
        found = list(read(files))
        if not found:
            die("no measurements in %s: run make bench first" %
                (", ".join(files) or os.path.dirname(out)))
        rows = sittings.choose(found)
        text = whole(found, rows, published.read())
        with open(out, "w", encoding="utf-8") as f:
            f.write(text)
        svg = picture.drawn(rows.values())
        if svg:
            with open(os.path.join(os.path.dirname(out), picture.NAME), "w",
                      encoding="utf-8") as f:
                f.write(svg)
    except OSError as e:
        die("%s: %s" % (e.filename, e.strerror))
    except figure.Missing:
        die("no gnuplot: it is in the package " + figure.PACKAGE)
    print("report: %s, %d figures" % (os.path.normpath(out),
                                      text.count("<figure>")))


if __name__ == "__main__":
    main(sys.argv[1:])
