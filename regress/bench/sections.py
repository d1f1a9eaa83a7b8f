# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
sections: one section of the page for each cell of the benchmark.

CELLS, at the end, names the title, the question and the function that builds
the figures and tables of a cell.
"""

import math
from statistics import median

import figure
import model
import published
import stats
from figure import Point, Series
from page import drawing, grid, p, tag, esc
from sentences import AGAINST, below, bullets, caption_of, conditions_text, \
    end_name, process_table, procs_of, rows_table, speak, what_of, where
from series import compared, differing, grouped, in_order, places, point, \
    series_of, sweep, swept
from units import amount, number

# Labels of an axis
LABEL = {"rate": "MB/s", "seconds": "seconds", "kib": "KiB",
         "ms": "milliseconds"}
MOST = 8        # figures of one kind in a section


# Figures

def dots(caption, some, names, series, label, text=below):
    svg = figure.dots(caption, names, series, label)
    return drawing(svg, caption, text(some))


def figures_compared(some, what, called=None, **how):
    """A figure for each quantity of rows under the same conditions."""
    return "".join(dots(caption_of(quantity, these, what, called), these,
                        names, series, LABEL[quantity])
                   for quantity, these, names, series in compared(some, **how))


def sweeps(mine, x, xlabel, quantity="rate", scale=1, quoted=(),
           split=("program", "streams"),
           said=("rtt_ms", "rate", "loss", "cc", "window", "streams", "load"),
           called=None, **how):
    """Figures of a quantity against the condition x."""
    groups = sweep(mine, x, quantity, split)
    out = []
    for group in groups[:MOST]:
        what = what_of(group, x, said)
        caption = caption_of(quantity, group, "against %s%s" % (
            AGAINST.get(x, x), ": " + what if what else ""), called)
        at = places(group, x, scale)
        series = swept(group, quantity, lambda r: at[r.given[x]], split) + \
            published.against(quoted, group, x, quantity, scale)
        svg = figure.lines(caption, series, xlabel, LABEL[quantity],
                           marks=bdp_mark(group, scale) if x == "window"
                           else (), named={v: name for name, v in at.items()
                                           if x == "window"}, **how)
        out.append(drawing(svg, caption, below(group)))
    if len(groups) > MOST:
        out.append(p("%d more of the kind are in the table only."
                     % (len(groups) - MOST)))
    return "".join(out)


def bdp_mark(group, scale):
    bdp = group[0].bdp()
    return ((bdp / scale, "BDP %.3g MiB" % (bdp / 1048576)),) if bdp else ()


# Sections. Each takes the rows of its cell and the published figures for it.

def section_compared(mine, quoted, called=None):
    """Figure and table for each set of conditions."""
    out = []
    for some in in_order(grouped(mine, stats.CONDITIONS)):
        at = where(some[0])
        out += [figures_compared(some, "over " + at, called),
                rows_table(some, "Over " + at + ".")]
    return "".join(out)


def section_self(mine, quoted):
    """One copy: a figure of rates and one of processes for each mode. Several
    at once: rate against their number."""
    alone = [r for r in mine if r.given["streams"] in ("1", "-")]
    one = [x for x in quoted if x["streams"] == "1"]
    out = []
    for some in grouped([r for r in alone if not r.is_login()],
                        ("mode",)).values():
        out += [figures_compared(some, "of one copy, a host to itself, by "
                                 "cipher: " + some[0].mode, quoted=one,
                                 label=self_label), busy_figure(some)]
    out += [sweeps([r for r in mine if r.mode == "scp"], "streams",
                   "copies at once", quoted=quoted,
                   split=("program", "direction"), said=("cipher",),
                   height=300),
            rows_table(mine, "A host to itself.", differing(mine)),
            process_table(alone, lambda r: r.mode + ", " + self_label(r))]
    return "".join(out)


def self_label(row):
    """Without the mode, and the cipher without its domain."""
    return "%s %s" % (speak("cipher", row.given["cipher"]), row.direction)


def busy_figure(some):
    """A line for each row, a mark on it for each process."""
    points, names = {}, []
    for row in some:
        name = "%s, %s" % (self_label(row), row.program)
        names.append(name)
        for q in procs_of(row):
            if (q.busy or 0) >= 0.02:
                busy = q.busy * 100
                points.setdefault(end_name(q), []).append(
                    Point(name, busy, busy, busy, False))
    if not points:
        return ""
    caption = "How busy each process was in the middle half of the run: " + \
        some[0].mode
    svg = figure.dots(caption, names, [
        Series(process, process, at, None) for process, at in points.items()],
        "% of one core", together=True)
    return drawing(svg, caption, below(some))


def section_matrix(mine, quoted):
    one = [x for x in quoted if x["streams"] == "1"]
    return sweeps(mine, "window", "window ceiling", scale=1048576,
                  split=("program",), logx=True, logy=True) + \
        sweeps(mine, "rtt_ms", "RTT, ms", logx=True, logy=True, quoted=one) + \
        sweeps(mine, "loss", "loss, %", logy=True) + \
        sweeps(mine, "rate", "rate of the path, Mbit/s", scale=1e6, logx=True,
               logy=True) + \
        rows_table(mine, "All of the matrix.", differing(mine))


def section_sessions(mine, quoted):
    """Against the number of sessions; busy ones side by side."""
    out = [sweeps(mine, "streams", "sessions", quantity, called=called,
                  said=(), split=("program", "mode"), logx=True)
           for quantity, called in (("kib", "Memory per session"),
                                    ("ms", "Time of a login"))]
    for some in grouped(mine, ("streams",)).values():
        out.append(figures_compared(
            [r for r in some if r.direction != "-"],
            "per session, %s busy sessions" % some[0].given["streams"]))
    return "".join(out) + rows_table(mine, "Sessions.", differing(mine))


def section_cross(mine, quoted):
    out = sweeps(mine, "load", "UDP load, % of the link",
                 split=("program", "mode"))
    return (out or section_compared(mine, ())) + \
        rows_table(mine, "Under cross traffic.", differing(mine))


def section_files(mine, quoted):
    """Milliseconds per file; a set of files has a figure each way."""
    out = ""
    for group in grouped(mine, ("set", "direction")).values():
        tiny = [x for x in quoted if x["bytes"] == "3"] \
            if group[0].mode.endswith(" x 3") else []
        out += sweeps(group, "rtt_ms", "RTT, ms", "ms",
                      called="Time per file", said=("rate", "cc"),
                      quoted=tiny, split=("program", "tool"), logx=True,
                      logy=True, bare=("stock",), height=430)
    return (out or section_compared(mine, (), "Time per file")) + \
        rows_table(mine, "Time per file.", differing(mine))


def section_seal(mine, quoted):
    """Ciphers stand down the side, and each packet size has its mark."""
    out = []
    for some in grouped(mine, ("place",)).values():
        series = [series_of(mode, mode, (
            point(r, "rate", r.program) for r in these))
            for (mode,), these in grouped(some, ("mode",)).items()]
        out.append(dots("Bytes for a second of CPU time, " + where(some[0]),
                        some, list(dict.fromkeys(r.program for r in some)),
                        series, "MB/s", conditions_text))
    out.append(rows_table(mine, "Sealing and opening alone.", differing(mine)))
    return "".join(out)


# FTP

FTP = "ftp-pure-ftpd"       # the program that the others are compared with


def section_ftp(mine, quoted):
    """The table of 2009 beside ours: rates, and shares of FTP's."""
    out = []
    for some in grouped(mine, ("mode",)).values():
        size = median(some[0].column("bytes") or [0])
        beside = {x["beside"]: x for x in quoted
                  if number(x["bytes"]) == size and x["beside"] != "-"}
        call = {n: "scp, " + n if n.split("-")[0] in ("stock", "hayate") else n
                for n in [r.program for r in some] + list(beside)}
        series = [series_of("measured", "hayate", (
            point(r, "rate", call[r.program]) for r in some)),
            series_of("published", "published", (
                published.point(x, call[n], "rate")
                for n, x in beside.items()))]
        out += [dots("One file of %s, more is better" % some[0].mode, some,
                     list(call.values()), series, "MB/s, login included"),
                ftp_table(some, call, beside)]
    return "".join(out) + rows_table(mine, "All of it.")


def ftp_table(some, call, beside):
    new = {r.program: median(r.values("rate")) / 1e6 for r in some
           if r.values("rate")}
    old = {n: float(x["value"]) for n, x in beside.items()}

    def cells(rate, n):
        share = "%.2f" % (rate[n] / rate[FTP]) if n in rate and FTP in rate \
            else "-"
        return ("%.1f" % rate[n] if n in rate else "-", share)
    return grid(("receiver and sender", "published as", "MB/s, 2009",
                 "x ftp, 2009", "MB/s, measured", "x ftp, measured"),
                [(called, beside[n]["what"] if n in beside else "-") +
                 cells(old, n) + cells(new, n) for n, called in call.items()],
                "Published and measured: %s. Different machines and links: "
                "compare the shares of FTP." % some[0].mode, {0, 1},
                lambda b: "hayate" in b[0])


# Threads, and the model of more cores

NOT_DRAWN = ("1-core", "apart")     # they feed the model, or bound it


def section_threads(mine, quoted):
    out = []
    for some in grouped(mine, ("place",)).values():
        kinds = {}
        for r in some:
            half, size, cipher = r.mode.split(" ", 2)
            kinds.setdefault((half, size), {}).setdefault(
                cipher, {})[r.program] = r
        for (half, size), ciphers in kinds.items():
            out.append(cores_figure("%s packets of %s, %s" % (
                half, size, where(some[0])), amount(size), ciphers))
    return "".join(out) + \
        rows_table(mine, "On several cores.", differing(mine))


def cores_of(program):
    """"2-cores" has 2; "off" is serial code."""
    return 1 if program == "off" else number(program.partition("-")[0])


def cores_figure(what, packet, ciphers):
    """Rate against cores, measured and as the model predicts it."""
    series, said = [], []
    for i, (cipher, by) in enumerate(ciphers.items()):
        series.append(series_of("measured: " + cipher, "measured", (
            point(r, "rate", cores_of(n)) for n, r in by.items()
            if n not in NOT_DRAWN), i))
        m = modelled(packet, by)
        said.append(model_text(cipher, packet, m))
        if m is not None:
            rate = [(k, packet / model.packet_time(m, k) / 1e6)
                    for k in model.CORES]
            series.append(Series("model: " + cipher, "model", [
                Point(k, v, v, v, False) for k, v in rate], i))
    caption = "Rate against cores: %s (more is better)" % what
    svg = figure.lines(caption, series, "cores", LABEL["rate"], logx=True,
                       logy=True, height=430, bare={"measured"})
    return drawing(svg, caption, bullets(
        tag("li", esc(text), ".") for text in said), conditions_text(
            [r for by in ciphers.values() for r in by.values()]))


def modelled(packet, by):
    """The model of one cipher, or None if a row is missing."""
    runs = {}
    for name in ("1-core", "2-cores"):
        if name not in by or not by[name].values("rate"):
            return None
        crypto = [number(x["procs"].partition("crypto_s=")[2]) * packet /
                  float(x["bytes"]) for x in by[name].lines
                  if "crypto_s=" in x["procs"]]
        runs[name] = model.Run(packet / median(by[name].values("rate")),
                               median(crypto) if crypto else 0)
    return model.fit(runs["1-core"], runs["2-cores"])


def model_text(cipher, packet, m):
    if m is None:
        return "%s: no prediction, the noise is larger than what it would " \
            "be made of" % cipher
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


# Cells in the order of the page

CELLS = {
    "path": ("One stream over a long path",
             "Does a transfer fill 1 Gbit/s, as iperf3 does?",
             section_compared),
    "path512": ("A shorter file over a long path",
                "How much of the rate does a 512 MiB file lose to slow start?",
                section_compared),
    "sender": ("Towards a stock sender",
               "What does a receiving Hayate win where stock sends?",
               section_compared),
    "stripe": ("Towards a stock receiver",
               "What do several channels win where the server's window is "
               "fixed?",
               section_compared),
    "connections": ("Several connections",
                    "What do further connections bring where packets are "
                    "lost?", section_compared),
    "forward": ("Multiplexing and forwards",
                "Is bulk through a forward as fast as in a plain session?",
                section_compared),
    "slow": ("A slow reader", "Does a larger window hurt a slow reader?",
             section_compared),
    "loopback": ("No path at all",
                 "Does Hayate cost anything where no path limits?",
                 section_compared),
    "self": ("A host to itself",
             "Which process is the limit, by cipher and direction?",
             section_self),
    "seal": ("Sealing and opening alone",
             "What does each cipher cost by itself, and data in clear?",
             section_seal),
    "threads": ("On several cores",
                "What does another core bring to sealing and opening, and "
                "what would more bring?", section_threads),
    "auto": ("Threads that come and go", "Do automatic threads cost anything "
             "where they bring nothing?", section_compared),
    "matrix": ("Window, streams, RTT and loss",
               "What does a window do, and from which size on is it enough?",
               section_matrix),
    "ftp": ("Beside FTP",
            "How much rate does scp lose against FTP, in 2009 and now?",
            section_ftp),
    "files": ("Many files",
              "How long does one file take where there are many?",
              section_files),
    "trees": ("100,000 files",
              "Is a large tree as fast as stock's where no path delays it, "
              "and what memory does it take?", section_compared),
    "cross": ("Under cross traffic",
              "What rate is left when others use the link?", section_cross),
    "queue": ("Others on the path",
              "How long does a packet of others take beside a transfer?",
              section_compared),
    "disk": ("A slow disk behind a fast path",
             "Does a copy pause while the disk catches up?", section_compared),
    "bottleneck": ("Limits made on purpose",
                   "Is the bottleneck named that was made?",
                   section_compared),
    "sessions": ("Many sessions",
                 "What does one session of many cost its host, and the next "
                 "login?", section_sessions),
    "memory": ("Memory of a receiver",
               "How much memory does a large window take?", section_compared),
    "idle": ("Memory of an idle connection",
             "How much memory does an idle connection take?",
             section_compared),
    "echo": ("Keystrokes beside bulk", "Does bulk delay the keystrokes on its "
             "connection?", section_compared),
}


def section(cell, mine, figures):
    title, question, build = CELLS.get(cell, (cell, "", section_compared))
    quoted = [x for x in figures if cell in x["cell"].split(",")]
    return tag("section", tag("h2", esc(title), " ", tag("code", esc(cell))),
               "\n", p(question) if question else "", build(mine, quoted),
               published.table(quoted), id=cell) + "\n"
