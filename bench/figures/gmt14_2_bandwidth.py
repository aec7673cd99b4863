# SPDX-License-Identifier: Apache-2.0
"""Points: {"by": the MPI, "processes": on each of two nodes, "threads": of each, "cores", "bytes":
of a message, "mb_per_s"}; or {"no_mpi": reason}. A point has no pairs of runs, so the ratios are
those of medians."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, at_least, clearly_above, grouped,
                     having, median, ratio_of_medians, reason, whole, with_mad)

TITLE = "[GMT14] table II and figure 2: the bandwidth of MPI alone against the size of messages"
SHORT = "--bytes 16 32 64 128 1024 16384 65536 131072 --samples 5 --seconds 0.1"
LONG = "--samples 15 --seconds 1"
WASTED = 10  # times the bandwidth of 16 bytes, at 64 KB


def rates(points, processes=1, threads=1):
    """{MPI: {bytes: point}}"""
    group = [p for p in having(points, "mb_per_s")
            if p["processes"] == processes and p["threads"] == threads]
    return {by: {p["bytes"]: p for p in ps} for by, ps in grouped(group, "by").items()}


def for_each_mpi(judge):
    """Decorator: judges {bytes: point} of one process of one thread, of each MPI."""

    def judged(points):
        missing = reason(points, "no_mpi")
        if missing:
            return Verdict(OPEN, missing)
        verdicts = [(by, judge(found)) for by, found in rates(points).items()]
        verdicts = [(by, v) for by, v in verdicts if v]
        if not verdicts:
            return Verdict(OPEN, "nothing was measured")
        return Verdict(whole(v.word for _, v in verdicts),
                       "; ".join(f"{by}: {v.number}" for by, v in verdicts))

    return judged


@for_each_mpi
def small_messages_waste_the_network(found):
    if 16 not in found or 65536 not in found:
        return None
    small, large = (found[size]["mb_per_s"] for size in (16, 65536))
    ratio = ratio_of_medians(large, small)
    return Verdict(at_least(ratio, WASTED),
                   f"{median(small):.1f} MB/s with 16 bytes, {median(large):.0f} with 64 KB, "
                   f"{with_mad(ratio, 0)} times by the medians")


@for_each_mpi
def grows_with_the_size(found):
    small = sorted(size for size in found if size <= 128)
    if len(small) < 2:
        return None
    first, last = small[0], small[-1]
    ratio = ratio_of_medians(found[last]["mb_per_s"], found[first]["mb_per_s"])
    return Verdict(at_least(ratio, last / first / 2),
                   f"{with_mad(ratio)} times from {first} to {last} bytes, by the medians")


def beside_one(member, faster):
    """Whether several processes, or threads, are clearly faster or slower than one, with the
    smallest messages. Both nodes are this machine, so each needs a core."""

    def judge(points):
        verdicts, numbers = [], []
        for many in sorted({p[member] for p in having(points, member)} - {1}):
            if not any(p["cores"] >= 2 * many for p in having(points, "cores")):
                continue
            for by, found in rates(points, **{member: many}).items():
                size = min(found)
                one = rates(points).get(by, {}).get(size)
                if not one:
                    continue
                several = found[size]["mb_per_s"]
                pair = (several, one["mb_per_s"]) if faster else (one["mb_per_s"], several)
                verdicts.append(HOLDS if clearly_above(*pair) else FAILS)
                numbers.append(f"{by}: {median(several):.1f} MB/s by {many} {member}, "
                               f"{median(one['mb_per_s']):.1f} by one")
        if not numbers:
            return Verdict(OPEN, f"there are not enough cores for two nodes of two {member}")
        return Verdict(whole(verdicts), "; ".join(numbers))

    return judge


CLAIMS = [
    Claim(f"small messages waste the network: 64 KB bring at least {WASTED} times the bandwidth of "
          "16 bytes", small_messages_waste_the_network),
    Claim("up to 128 bytes the bandwidth grows about as the size", grows_with_the_size),
    Claim("several threads of a process are slower than one, with the smallest messages",
          beside_one("threads", faster=False)),
    Claim("several processes are faster than one, with the smallest messages",
          beside_one("processes", faster=True)),
]
PLOTS = [Plot("bytes", "bytes of a message",
              [("{processes} processes of {threads} threads", "mb_per_s")], panels=("by",),
              y_label="MB/s", log_x=True, log_y=True,
              only=lambda points: having(points, "mb_per_s"))]
