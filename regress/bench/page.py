# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
page: the pieces of a report's HTML. It is well-formed XML too, so that an XML
parser finds an element that is not closed.
"""

import html


def esc(text):
    return html.escape(str(text), quote=True)


def tag(name, *inside, **attributes):
    """inside is HTML already. The attribute "class_" stands for class."""
    text = "".join(' %s="%s"' % (k.rstrip("_"), esc(v))
                   for k, v in attributes.items())
    return "<%s%s>%s</%s>" % (name, text, "".join(inside), name)


def p(text, class_=None):
    if class_:
        return tag("p", esc(text), class_=class_) + "\n"
    return tag("p", esc(text)) + "\n"


LONG = 24       # characters; a column with longer words breaks its lines


def grid(head, body, caption, words=(0,), strong=None):
    """A table. Columns of words are aligned left, numbers right. Rows for
    which strong holds are set off."""
    kind = {i: "w long" if max(len(str(b[i])) for b in body) > LONG else "w"
            for i in words}

    def line(cells, what, class_=""):
        return tag("tr", *(
            tag(what, esc(c), class_=kind[i]) if i in kind
            else tag(what, esc(c)) for i, c in enumerate(cells)),
            class_=class_) + "\n"
    return tag("div", tag(
        "table", tag("caption", esc(caption)),
        tag("thead", line(head, "th")),
        tag("tbody", "\n", *(
            line(b, "td", "us" if strong and strong(b) else "")
            for b in body))), class_="wide") + "\n"


def drawing(svg, caption, *below):
    return tag("figure", tag("div", svg, class_="wide"), "\n",
               tag("figcaption", esc(caption), "."), "\n", *below) + "\n"


STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #ffffff;
  --soft: #5a5a5a; --line: #c9c9c9; --band: #f0f3f6;
  --k1: #0a56a8; --k2: #b3430a; --k3: #0b6b4a; --k4: #7d3a86; --k5: #7a5c00;
  --k6: #a3195b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6;
  --paper: #16181b; --soft: #a9adb2; --line: #43474d; --band: #22262b;
  --k1: #79b8ff; --k2: #ff9e64; --k3: #63d2a6; --k4: #d7a0e0; --k5: #e0c060;
  --k6: #ff8fbf; } }
@media print { :root { color-scheme: light; --ink: #000000; --paper: #ffffff;
  --soft: #333333; --line: #999999; --band: #eeeeee; --k1: #0a56a8;
  --k2: #b3430a; --k3: #0b6b4a; --k4: #7d3a86; --k5: #7a5c00; --k6: #a3195b; }
  figure, tr { break-inside: avoid; } h2 { break-after: avoid; }
  body { max-width: none; padding: 0; font-size: 9pt; }
  .wide { overflow-x: visible; } }
@page { margin: 12mm; }
body { font: 16px/1.5 sans-serif; color: var(--ink); background: var(--paper);
  max-width: 68rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem;
  border-top: 2px solid var(--line); padding-top: 0.6rem; }
h2 code { font-size: 0.7em; color: var(--soft); }
a { color: var(--k1); }
nav ul { columns: 2; padding-left: 1.2rem; }
figure { margin: 1.5rem 0 0.5rem; }
figure svg { max-width: 100%; min-width: 34rem; height: auto; display: block; }
figcaption { font-weight: bold; }
.wide { overflow-x: auto; }
.conditions, caption { font-size: 0.85em; color: var(--soft); }
.conditions { margin-top: 0.2rem; overflow-wrap: anywhere; }
.limits { margin: 0.3rem 0; padding-left: 1.2rem; font-size: 0.95em; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.82em;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.3rem; }
th, td { text-align: right; padding: 0.15rem 0.45rem; vertical-align: top;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; }
th.w, td.w { text-align: left; }
td.long { white-space: normal; min-width: 11rem; overflow-wrap: anywhere; }
tr.us td { background: var(--band); font-weight: bold; }
svg .open { fill: var(--paper); }
@media print { table { font-size: 6.5pt; } figure svg { min-width: 0; }
  th, td { padding: 0.1rem 0.25rem; } }
.s1 { stroke: var(--k1); } .c1 { color: var(--k1); }
.s2 { stroke: var(--k2); } .c2 { color: var(--k2); }
.s3 { stroke: var(--k3); } .c3 { color: var(--k3); }
.s4 { stroke: var(--k4); } .c4 { color: var(--k4); }
.s5 { stroke: var(--k5); } .c5 { color: var(--k5); }
.s6 { stroke: var(--k6); } .c6 { color: var(--k6); }
.s8 { stroke: var(--ink); } .c8 { color: var(--ink); }
.s9 { stroke: var(--line); } .c9 { color: var(--line); }
"""


def document(title, *inside):
    return "<!DOCTYPE html>\n" + tag(
        "html", tag("head", '<meta charset="utf-8"/>\n',
                    '<meta name="viewport" '
                    'content="width=device-width, initial-scale=1"/>\n',
                    tag("title", esc(title)), "\n", tag("style", STYLE)),
        "\n", tag("body", "\n", tag("h1", esc(title)), "\n", *inside),
        lang="en") + "\n"
