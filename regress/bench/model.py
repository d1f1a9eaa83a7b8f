#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
model: what more cores would bring to sealing and opening, judged by two.

A packet costs three things. The owner of the connection builds it and writes
it, which nobody can do for him: the serial part. Handing it to another core
costs him something more. Sealing or opening it can be done by any core, but
takes longer where others move data as well, since what is sealed has to come
out of another core's cache and all of it through the same memory: that part of
it is taken to grow with the rate.

    T(k) = max(serial + handover,
               (serial + handover + crypto * (1 + traffic * T(2) / T(k))) / k)

is the time of a packet with k cores: the owner's own work, or everybody's
share of all work. Four measurements of one sitting are fitted: the time of a
packet with the pool's jobs done by their owner alone and the crypto in that
(the rest is serial), and both on two cores, where more crypto is traffic and
what both cores spent on anything else is handover; waiting for one another is
in it.

As with the universal scalability law (Gunther, 2007) two points cannot tell
the traffic of caches from that of memory; what is measured on more cores is
drawn beside the prediction.

    model.py --selftest
"""

import sys
from collections import namedtuple

CORES = (1, 2, 4, 8, 16, 32)

# Of one run: seconds and seconds of crypto for a packet
Run = namedtuple("Run", "time crypto")
# Seconds for a packet; traffic is a share of the crypto
Model = namedtuple("Model", "serial handover crypto traffic two")


def fit(one, two):
    """The Model for two Runs, on one core and on two. None where they cannot
    be: noise larger than a part."""
    serial = one.time - one.crypto
    if min(one.time, two.time, one.crypto, serial) <= 0:
        return None
    return Model(serial, max(0, 2 * two.time - serial - two.crypto),
                 one.crypto, max(0, two.crypto / one.crypto - 1), two.time)


def owner(m):
    """What bounds any number of cores."""
    return m.serial + m.handover


def sealing(m, time):
    """The crypto of a packet where one is done each "time"."""
    return m.crypto * (1 + m.traffic * m.two / time)


def packet_time(m, cores):
    """T(cores), by halving: the shorter T is, the more its right side."""
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
    """So many cores keep the owner busy all the time: more bring nothing."""
    return 1 + sealing(m, owner(m)) / owner(m)


def close(a, b):
    return abs(a - b) < 1e-6 * max(abs(a), abs(b))


def test_no_cost():
    """Nothing serial to speak of: each core counts in full."""
    m = fit(Run(10.001, 10), Run(5.0005, 10))
    assert all(close(packet_time(m, k) * k, packet_time(m, 1))
               for k in CORES), m
    assert close(enough(m), 1 + 10 / 0.001)


def test_serial():
    """A quarter of serial work: four cores and no more (Amdahl)."""
    m = fit(Run(4, 3), Run(2, 3))
    assert close(packet_time(m, 2), 2) and close(packet_time(m, 4), 1)
    assert close(packet_time(m, 8), 1) and close(packet_time(m, 32), 1)
    assert close(enough(m), 4)


def test_handover():
    m = fit(Run(4, 3), Run(2.5, 3))
    assert close(m.handover, 1) and close(packet_time(m, 2), 2.5)
    assert close(packet_time(m, 32), 2)


def test_traffic():
    """Crypto takes twice as long on two cores, and longer with more rate."""
    m = fit(Run(10, 9), Run(9.5, 18))
    assert close(packet_time(m, 2), 9.5)
    four = packet_time(m, 4)
    assert 9.5 / 2 < four < 9.5 and close(four, (1 + sealing(m, four)) / 4)
    assert enough(m) > 10


def test_impossible():
    assert fit(Run(3, 3.5), Run(2, 3)) is None
    assert fit(Run(0, 3), Run(2, 3)) is None


def main(argv):
    if argv != ["--selftest"]:
        sys.exit(__doc__.strip())
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok " + name[5:])


if __name__ == "__main__":
    main(sys.argv[1:])
