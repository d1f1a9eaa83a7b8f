# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
units: numbers as the columns of a result line write them.

The other scripts of this directory read such columns with these functions. The
runner of their self-tests is here too.
"""

import re

AMOUNT = re.compile(r"^([0-9.]+)\s*([kmgt]?)(i?B|bit|%)?$", re.I)


def number(text):
    """A float, or None if the text is no number."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def amount(text):
    """20M, 1gbit, 0.1% or 64 as a number, or None. A bit rate is a multiple
    of 1000, all else of 1024."""
    m = AMOUNT.match(text or "")
    if m is None:
        return None
    step = 1000 if m.group(3) == "bit" else 1024
    return float(m.group(1)) * step ** " kmgt".index(m.group(2).lower() or " ")


def byte_rate(text):
    """1gbit as bytes per second; None if the path has no such limit."""
    return (amount(text) or 0) / 8 or None


def selftest(names):
    """Runs the functions called test_*; names is the caller's globals()."""
    for name, test in list(names.items()):
        if name.startswith("test_"):
            test()
            print("ok " + name[5:])
