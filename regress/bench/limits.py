#!/usr/bin/env python3
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
"""
limits: what limited the rate of a transfer, in one sentence.

    limits.py profile BYTES     of "perf script" on stdin: COMM:SHARE:CALLS,...
    limits.py --selftest

stats.py prints the sentence under each row whose processes were recorded.
"meter run -p" records them, as items without spaces in the TSV's column procs:

    COMM:COUNT:USER:SYS:SWITCHES:CALLS:ALIVE:BUSY:WAIT:ALL
             COUNT processes of that name ran, for ALIVE seconds; @COMM ran at
             the far end. They took USER and SYS seconds, SWITCHES context
             switches, and CALLS reads and writes. In the middle half of the
             run the busiest of them used the share BUSY of a core, and waited
             for a core the share WAIT of the time. ALL is the sum of the two
             over all processes of that name.
    cores=N  cores of the machine that were busy then, with any work
    crypto=BYTES_PER_SECOND:SOURCE
             speed of cipher and MAC alone on one core
    perf=COMM:SHARE:CALLS,...
             share of crypto in the CPU time, and all system calls per MB

The limit is the first of these whose condition holds:

    login    most of the time is the login's: nothing can be said
    cpu      a process uses a whole core all the time; "crypto" if more than
             half of that is crypto
    cores    a process would use a whole core but waits for one; or all cores
             are busy, and these processes could use all of them
    window   each stream moves about one window per round trip
    path     the rate is near that of the path, or of iperf3 over it (loss)
    cores    these processes wait for a core longer than they have one
    turns    one is busy most of the time: the processes wait for each other
    reader   none of the above: the source or the reader sets the pace
"""

import re
import sys
from collections import Counter, namedtuple
from statistics import median

sys.dont_write_bytecode = True      # the source tree stays clean
from units import number, selftest                          # noqa: E402

BUSY = 0.90     # of a core; the slowest stage of a pipeline idles at its start
ALONE = 0.85    # share of the time that a process could run and did
FULL = 0.95     # of the cores; sampling is no more exact than this
NEAR = 0.60     # of the most that a window or a path allows; slow start costs
MOSTLY = 0.60   # of a core; if none is busier, no process explains the rate

# The processes at the ends of the connection; a peer's have a prefix
CRYPTER = re.compile(r"^[a-z]*(ssh|sshd|sshd-session)$")
CARRIER = re.compile(CRYPTER.pattern + r"|^[a-z]*(scp|sftp|sftp-server)$")
OWN_CRYPTO = re.compile(r"poly1305|umac|uhash|nh_|poly_hash|poly64|ip_|pdf_gen")

Proc = namedtuple("Proc", "comm far count user sys switches calls alive busy "
                          "wait all")
Usage = namedtuple("Usage", "procs cores crypto source perf")

# The path, as far as it is known: RTT in seconds, window of one stream in
# bytes, rate of the path and of iperf3 over it in bytes per second, and whether
# the window is a socket's buffer, which holds the kernel's overhead as well
Net = namedtuple("Net", "rtt window streams path iperf3 socket",
                 defaults=(None, None, 1, None, None, False))


def parse_proc(item):
    comm, *rest = item.split(":")
    return Proc(comm.lstrip("@"), comm.startswith("@"), *map(number, rest))


def parse(text):
    """The Usage of one run, or None if its line has no processes."""
    procs, tags = [], {}
    for item in text.split():
        if "=" in item:
            name, value = item.split("=", 1)
            tags[name] = value
        elif item.count(":") == 9:
            procs.append(parse_proc(item))
    if not procs:
        return None
    crypto, _, source = tags.get("crypto", "").partition(":")
    perf = {}
    for item in filter(None, tags.get("perf", "").split(",")):
        comm, share, calls = item.split(":")
        perf[comm] = (number(share), number(calls))
    return Usage(procs, number(tags.get("cores", "")), number(crypto), source,
               perf)


def middle(values):
    known = [v for v in values if v is not None]
    return median(known) if known else None


def combine(usages):
    """The medians of several runs, by process name and end; None of none."""
    if not usages:
        return None
    by = {}
    for usage in usages:
        for p in usage.procs:
            by.setdefault((p.comm, p.far), []).append(p)
    procs = [Proc(*key, *(middle(column) for column in list(zip(*ps))[2:]))
             for key, ps in by.items()]
    last = usages[-1]
    perf = {}
    for usage in usages:
        perf.update(usage.perf)
    return Usage(procs, middle(w.cores for w in usages),
               middle(w.crypto for w in usages), last.source, perf)


def percent(share):
    return "%.0f %%" % (share * 100)


def proc_name(usage, p):
    both = sum(q.comm == p.comm for q in usage.procs) > 1
    return "far " + p.comm if p.far and both else p.comm


def crypto_share(usage, p, nbytes):
    """(Share of crypto in the CPU time of p, or None; whether that is exact,
    or the least that it can be.)"""
    if not CRYPTER.match(p.comm):
        return None, True
    if usage.perf.get(p.comm, (None,))[0] is not None:
        return usage.perf[p.comm][0], True
    cpu = p.user + p.sys
    if not usage.crypto or not cpu:
        return None, True
    return min(nbytes / usage.crypto / cpu, 1), usage.source == "openssl"


def of_crypto(usage, p, nbytes):
    share, exact = crypto_share(usage, p, nbytes)
    if share is None:
        return ""
    return ", %s%s of that crypto" % ("" if exact else "at least ",
                                      percent(share))


def demand(p):
    return (p.busy or 0) + (p.wait or 0)


def wanted(usage):
    """Cores that these processes used or waited for."""
    return sum(p.all or 0 for p in usage.procs)


def busy_text(usage, top, nbytes):
    return "%s has %s of a core%s" % (
        proc_name(usage, top), percent(top.busy), of_crypto(usage, top, nbytes))


def cores_limit(usage, top, cores, nbytes):
    return "cores", "the machine's cores: %s of %d busy, %s" % (
        "-" if usage.cores is None else "%.1f" % usage.cores, cores,
        busy_text(usage, top, nbytes))


def cpu_limit(usage, top, cores, nbytes):
    if top.busy >= BUSY or (demand(top) >= BUSY and
                            top.busy >= ALONE * demand(top)):
        share = percent(top.busy) + " of a core" + of_crypto(usage, top, nbytes)
        if (crypto_share(usage, top, nbytes)[0] or 0) > 0.5:
            return "crypto", "crypto in %s: %s" % (proc_name(usage, top), share)
        return "cpu", "the CPU time of %s: %s" % (proc_name(usage, top), share)
    # Busy cores limit only those processes that would use them.
    taken = min(usage.cores or 0, wanted(usage)) >= FULL * cores
    if demand(top) >= BUSY or taken:
        return cores_limit(usage, top, cores, nbytes)
    return None


def network_limit(have, net):
    came = "and %.1f came" % (have / 1e6)
    if net.window and net.rtt:
        most = net.streams * net.window / net.rtt
        if have >= NEAR * most * (0.5 if net.socket else 1):
            return "window", "the window: %s%.0f KiB each %.1f ms are " \
                "%.1f MB/s%s, %s" % (
                    "" if net.streams == 1 else "%d of " % net.streams,
                    net.window / 1024, net.rtt * 1e3, most / 1e6,
                    ", overhead included" if net.socket else "", came)
    if net.path and have >= NEAR * net.path:
        return "path", "the path: it carries %.1f MB/s, headers included, " \
            "%s" % (net.path / 1e6, came)
    if net.iperf3 and have >= NEAR * net.iperf3:
        return "path", "the path: iperf3 got %.1f MB/s through it, %s" % (
            net.iperf3 / 1e6, came)
    return None


def limit(nbytes, seconds, usage, cores, net=Net(), login=0):
    """(kind, sentence); seconds without the login's."""
    if login > seconds:
        return "login", "the login: it is %s of the time" % percent(
            login / (login + max(seconds, 0)))
    top = max(usage.procs, key=demand)
    held = cpu_limit(usage, top, cores, nbytes) or \
        network_limit(nbytes / seconds, net)
    if held:
        return held
    if wanted(usage) >= MOSTLY and (top.wait or 0) > top.busy:
        return cores_limit(usage, top, cores, nbytes)
    busiest = "the busiest, " + busy_text(usage, top, nbytes)
    if demand(top) >= MOSTLY:
        return "turns", "taking turns: the processes wait for each other, " + \
            busiest
    return "reader", "the reader, or the source: " + busiest


def details(usage, nbytes):
    """One line for each process that used a core, busiest first."""
    mb = nbytes / 1e6
    for p in sorted(usage.procs, key=demand, reverse=True):
        if p.user + p.sys < 0.02 and p.busy < 0.02:
            continue
        name = proc_name(usage, p)
        line = "%-14s %s" % (name, "" if p.count == 1 else
                             "%d, the busiest " % p.count)
        line += "%s of a core" % percent(p.busy)
        if (p.wait or 0) >= 0.005:
            line += ", waits for one %s" % percent(p.wait)
        line += "; %.2f + %.2f s user + system" % (p.user, p.sys)
        line += of_crypto(usage, p, nbytes)
        for what, n in (("switches", p.switches), ("reads+writes", p.calls)):
            line += "" if n is None else "; %.1f %s/MB" % (n / mb, what)
        calls = usage.perf.get(p.comm, (None, None))[1]
        if calls is not None and sum(q.comm == p.comm
                                     for q in usage.procs) == 1:
            line += "; %.1f system calls/MB" % calls
        yield line


# perf: shares of crypto, and system calls, by process name

SAMPLE = re.compile(r"^\s*(\S.*?)\s+(\d+)\s+(cpu-clock|raw_syscalls:sys_enter)"
                    r"[^:]*:\s*(?:[0-9a-f]+\s+(\S+)\s.*\((\S+)\)|.*)$")


def profile(lines, mbytes):
    """From lines of perf script -F comm,period,event,ip,sym,dso."""
    cpu, crypto, calls = Counter(), Counter(), Counter()
    for m in filter(None, map(SAMPLE.match, lines)):
        comm, period, event, symbol, dso = m.groups()
        if event != "cpu-clock":
            calls[comm] += int(period)
            continue
        cpu[comm] += int(period)
        if dso and ("libcrypto" in dso or OWN_CRYPTO.match(symbol or "")):
            crypto[comm] += int(period)
    return ",".join("%s:%s:%s" % (
        c, "%.3f" % (crypto[c] / cpu[c]) if CRYPTER.match(c) and cpu[c] else "-",
        "%.1f" % (calls[c] / mbytes) if calls else "-")
        for c in sorted({*cpu, *calls}) if CARRIER.match(c))


# Selftest: numbers one can check by hand.

def proc(comm, busy, wait=0.0, cpu=1.0, far=False, count=1):
    return Proc(comm, far, count, cpu * 0.75, cpu * 0.25, 500, 1000, 2, busy,
                wait, (busy + wait) * count)


def using(*procs, cores=1.2, crypto=None, source="openssl", perf=None):
    return Usage(list(procs), cores, crypto, source, perf or {})


def kind(*args, **kw):
    return limit(*args, **kw)[0]


def test_process():
    copy = using(proc("cat", 0.2), proc("ssh", 0.95), proc("sshd-session", 0.7))
    assert limit(1e9, 2, copy, 4) == (
        "cpu", "the CPU time of ssh: 95 % of a core")
    # A process that is always busy is the limit, whatever the window.
    assert kind(1e9, 2, copy, 4, Net(0.004, 2 << 20, 1, 5e8)) == "cpu"
    # Each of the two has a core: more cores would not help.
    both = using(proc("ssh", 0.97), proc("sshd-session", 0.98), cores=2.0)
    assert "sshd-session" in limit(1e9, 2, both, 2)[1]
    assert kind(1e9, 2, both, 2) == "cpu"


def test_crypto():
    # 1 GB at 2 GB/s is half a second: 50 % of 1 s, and 62.5 % of 0.8 s.
    half = using(proc("ssh", 0.95, cpu=1.0), crypto=2e9)
    assert kind(1e9, 2, half, 4) == "cpu"
    more = using(proc("ssh", 0.95, cpu=0.8), crypto=2e9)
    assert limit(1e9, 2, more, 4) == (
        "crypto", "crypto in ssh: 95 % of a core, 62 % of that crypto")
    alone = more._replace(source="cipher")
    assert "at least 62 %" in limit(1e9, 2, alone, 4)[1]
    # gzip does no crypto. What perf sampled outweighs the cipher's speed.
    assert kind(1e9, 2, using(proc("gzip", 0.95), crypto=2e9), 4) == "cpu"
    assert kind(1e9, 2, more._replace(perf={"ssh": (0.3, 9.0)}), 4) == "cpu"


def test_cores():
    full = using(proc("ssh", 0.5, 0.4, count=4), proc("sshd-session", 0.4, 0.4),
                  cores=1.99)
    assert limit(1e9, 2, full, 2)[1] == \
        "the machine's cores: 2.0 of 2 busy, ssh has 50 % of a core"
    # ssh waits although cores seem idle: a virtual machine has not all of them.
    assert kind(1e9, 2, full._replace(cores=2.0), 4) == "cores"
    many = using(proc("ssh", 0.2, 0.2, count=10), cores=3.9)
    assert kind(1e9, 2, many, 4) == "cores"
    assert kind(1e9, 2, using(proc("ssh", 0.1), cores=4), 4) == "reader"
    # Other work has the cores, and ours mostly waits.
    poor = using(proc("ssh", 0.1, 0.4), proc("scp", 0.05, 0.2), cores=2)
    assert kind(1e9, 2, poor, 2) == "cores"


def test_network():
    idle = using(proc("ssh", 0.1), proc("sshd-session", 0.2))
    # 2 MiB each 50 ms are 41.9 MB/s
    net = Net(0.05, 2 << 20, 1, 125e6)
    assert kind(80e6, 2, idle, 4, net) == "window"
    assert "2048 KiB each 50.0 ms are 41.9 MB/s, and 40.0 came" in \
        limit(80e6, 2, idle, 4, net)[1]
    assert kind(240e6, 2, idle, 4, net._replace(window=64 << 20)) == "path"
    assert kind(240e6, 2, idle, 4, net._replace(window=None)) == "path"
    assert kind(40e6, 2, idle, 4, net) == "reader"
    assert kind(40e6, 2, idle, 4, net._replace(socket=True)) == "window"
    # Two streams
    assert kind(160e6, 2, idle, 4, net._replace(streams=2)) == "window"
    assert "2 of 2048 KiB" in limit(160e6, 2, idle, 4,
                                    net._replace(streams=2))[1]
    assert kind(80e6, 2, idle, 4, net._replace(streams=8)) == "reader"
    # Loss: the path carries less than its rate, as iperf3 shows.
    lossy = Net(0.05, None, 1, 125e6, 21e6)
    assert limit(40e6, 2, idle, 4, lossy)[1] == \
        "the path: iperf3 got 21.0 MB/s through it, and 20.0 came"
    assert kind(20e6, 2, idle, 4, lossy) == "reader"
    # Without an RTT a window is no limit.
    assert kind(80e6, 2, idle, 4, Net(0, 2 << 20)) == "reader"


def test_reader():
    idle = using(proc("ssh", 0.1), proc("sshd-session", 0.2))
    word, text = limit(20e6, 2, idle, 4, Net(0.05, 2 << 20, 1, 125e6))
    assert word == "reader" and text.startswith("the reader")
    busy = using(proc("ssh", 0.7), proc("sshd-session", 0.6))
    assert kind(1e9, 2, busy, 4) == "turns"


def test_login():
    copy = using(proc("ssh", 0.95))
    assert limit(1e9, 1, copy, 4, login=3) == (
        "login", "the login: it is 75 % of the time")
    assert kind(1e9, -0.1, copy, 4, login=3) == "login"
    assert kind(1e9, 2, copy, 4, login=1) == "cpu"


def test_parse():
    text = ("scp:1:0.10:0.20:30:40:2.0:0.15:0.01:0.16 @scp:1:0:0.1:-:-:2:0.1:-:- "
            "ssh:2:1:0.5:9:9:2:0.9:0:1.1 cores=1.50 crypto=1e9:cipher "
            "perf=ssh:0.25:12.0,scp:-:3.0")
    usage = parse(text)
    assert len(usage.procs) == 3 and usage.cores == 1.5
    assert usage.procs[1].far and usage.procs[1].calls is None
    assert proc_name(usage, usage.procs[1]) == "far scp"
    assert usage.crypto == 1e9 and usage.source == "cipher"
    assert usage.perf == {"ssh": (0.25, 12.0), "scp": (None, 3.0)}
    assert parse("-") is None and parse("cores=1") is None
    other = parse(text.replace(":2:1:0.5:", ":2:3:0.5:"))
    assert combine([usage, other]).procs[2].user == 2
    assert sum("far scp" in x for x in details(usage, 1e6)) == 1


def test_profile():
    lines = ["ssh  2004008 cpu-clock:  7f11 aesni_ctr32+0x1 (/lib/libcrypto.so.3)",
             "ssh  2004008 cpu-clock:  55aa poly1305_auth (/b/ssh)",
             "ssh  4008016 cpu-clock:  ffff copy_user ([kernel.kallsyms])",
             "ssh  100 raw_syscalls:sys_enter:  7f11 write (/lib/libc.so.6)",
             "swapper  2004008 cpu-clock:  ffff halt ([kernel.kallsyms])"]
    assert profile(lines, 50) == "ssh:0.500:2.0"


def main(argv):
    if argv == ["--selftest"]:
        selftest(globals())
    elif argv[:1] == ["profile"] and len(argv) == 2:
        print(profile(sys.stdin, float(argv[1]) / 1e6))
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
