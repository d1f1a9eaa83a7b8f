# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
sittings: which measured lines count, of those in several files.

A file of results is a sitting. For each set of conditions the newest sitting
counts, because an older one measured an older program. A newest sitting that
was interrupted in those conditions gives way to an older one that has more of
their rows.
"""

import os

import stats


class Sitting:
    """The lines of one file, by conditions."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        self.lines = stats.read_lines(path)
        self.groups = {}
        for line in self.lines:
            line["file"] = self.name
            self.groups.setdefault(stats.conditions(line), []).append(line)
        self.date = self.lines[0]["date"] if self.lines else ""
        self.used = []      # conditions for which it counts

    def ends_in(self, conditions):
        """Whether it may have been interrupted in these conditions."""
        return conditions == stats.conditions(self.lines[-1])

    def keys(self, conditions):
        return {(x["mode"], x["direction"], x["program"])
                for x in self.groups[conditions]}


def best_of(sittings, conditions):
    """The sitting that counts; the newest is the first."""
    having = [s for s in sittings if conditions in s.groups]
    best = having[0]
    for older in having[1:]:
        if best.ends_in(conditions) and \
                best.keys(conditions) < older.keys(conditions):
            best = older
    return best


def choose(sittings):
    """The rows that count, for all conditions in any of the sittings."""
    newest_first = sorted(sittings, key=lambda s: s.date, reverse=True)
    lines = []
    for conditions in dict.fromkeys(c for s in sittings for c in s.groups):
        best = best_of(newest_first, conditions)
        best.used.append(conditions)
        lines += best.groups[conditions]
    return stats.rows_of(lines)
