#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
model: predicts from two cores what more would bring to sealing and opening.

A packet costs three things. The connection's owner builds and writes it: the
serial part. Handing it to another core costs the owner some more. Any core can
seal or open it, but crypto takes longer while other cores move data, through
the same caches and memory; this traffic is taken to grow with the rate.

    T(k) = max(serial + handover,
               (serial + handover + crypto * (1 + traffic * T(2) / T(k))) / k)

is the time of a packet with k cores: the owner's own work, or one core's share
of all work. The model is fitted to two runs of one sitting, each with its time
and its crypto time per packet. On one core, what is not crypto is serial. On
two cores, the additional crypto is traffic; the rest beyond the serial part,
with all waiting, is handover.

Two points cannot tell the traffic of caches from that of memory (compare the
universal scalability law, Gunther, 2007), so what is measured on more cores is
drawn beside the prediction.

    model.py --selftest
"""

import sys
from collections import namedtuple
from math import isclose

sys.dont_write_bytecode = True      # the source tree stays clean
from units import selftest                                  # noqa: E402

CORES = (1, 2, 4, 8, 16, 32)

# Of one run: seconds and seconds of crypto for a packet
Run = namedtuple("Run", "time crypto")
# Seconds for a packet; traffic is a share of the crypto
Model = namedtuple("Model", "serial handover crypto traffic two")


def fit(one, two):
    """The Model for two Runs, on one core and on two. None if the noise is
    larger than a part."""
    serial = one.time - one.crypto
    if min(one.time, two.time, one.crypto, serial) <= 0:
        return None
    return Model(serial, max(0, 2 * two.time - serial - two.crypto),
                 one.crypto, max(0, two.crypto / one.crypto - 1), two.time)


def owner(m):
    """Seconds of a packet that no number of cores can go below."""
    return m.serial + m.handover


def sealing(m, time):
    """Crypto seconds of a packet at one packet per "time" seconds."""
    return m.crypto * (1 + m.traffic * m.two / time)


def packet_time(m, cores):
    """T(cores) by bisection: the right side falls as T grows."""
    if cores == 1:
        return m.serial + m.crypto
    low, high = owner(m), owner(m) + sealing(m, owner(m))
    for _ in range(60):
        time = (low + high) / 2
        if max(owner(m), (owner(m) + sealing(m, time)) / cores) > time:
            low = time
        else:
            high = time
    return high


def enough(m):
    """The number of cores that keep the owner busy; more bring nothing."""
    return 1 + sealing(m, owner(m)) / owner(m)


def test_no_cost():
    """Almost no serial work: each core counts in full."""
    m = fit(Run(10.001, 10), Run(5.0005, 10))
    assert all(isclose(packet_time(m, k) * k, packet_time(m, 1))
               for k in CORES), m
    assert isclose(enough(m), 1 + 10 / 0.001)


def test_serial():
    """A quarter of serial work: four cores and no more (Amdahl)."""
    m = fit(Run(4, 3), Run(2, 3))
    assert isclose(packet_time(m, 2), 2) and isclose(packet_time(m, 4), 1)
    assert isclose(packet_time(m, 8), 1) and isclose(packet_time(m, 32), 1)
    assert isclose(enough(m), 4)


def test_handover():
    m = fit(Run(4, 3), Run(2.5, 3))
    assert isclose(m.handover, 1) and isclose(packet_time(m, 2), 2.5)
    assert isclose(packet_time(m, 32), 2)


def test_traffic():
    """Crypto takes twice as long on two cores, and longer with more rate."""
    m = fit(Run(10, 9), Run(9.5, 18))
    assert isclose(packet_time(m, 2), 9.5)
    four = packet_time(m, 4)
    assert 9.5 / 2 < four < 9.5 and isclose(four, (1 + sealing(m, four)) / 4)
    assert enough(m) > 10


def test_impossible():
    assert fit(Run(3, 3.5), Run(2, 3)) is None
    assert fit(Run(0, 3), Run(2, 3)) is None


def main(argv):
    if argv != ["--selftest"]:
        sys.exit(__doc__.strip())
    selftest(globals())


if __name__ == "__main__":
    main(sys.argv[1:])
