"""`make bench`: prints the figures that the README quotes."""

from __future__ import annotations

import argparse
import os
from statistics import median

from . import burst, crowd, question


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    cells = burst.measure(options.events, options.repetitions)
    print(f"{options.events} events, each committed before it is sent, to one client with credit")
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start; median (lowest to highest)")
    for name, measured in cells.items():
        rates = [cell.events_s for cell in measured]
        cpu = median(cell.cpu_us for cell in measured)
        spread = f"({min(rates):,.0f} to {max(rates):,.0f})"
        print(f"{name:8} {median(rates):>9,.0f} events/s {spread:24} {cpu:6.1f} us CPU an event")
    rates = [cell.events_s for cell in cells["raw"]]
    if max(rates) > 1.25 * min(rates):
        print("The bare socket varied by more than a quarter: the machine was busy.")

    waited = question.measure(options.repetitions)
    firsts = sorted(one.first * 1000 for one in waited)
    reports = sorted(one.report * 1000 for one in waited)
    print(f"\n{len(waited)} questions about this documentation, keyless model, daphne, SQLite")
    print(f"first event after start  {median(firsts):6.0f} ms (slowest {firsts[-1]:.0f})")
    print(f"whole report             {median(reports):6.0f} ms (slowest {reports[-1]:.0f})")

    seen = crowd.measure()
    print(f"\n{crowd.RUNS} runs at once, {crowd.WATCHERS} pages open on each, scripted models")
    print(f"{seen.complete} watchers saw the end, {seen.frames} frames, in {seen.took_s:.0f} s")
    print(f"a page, meanwhile  median {seen.p50_ms:.0f} ms, p95 {seen.p95_ms:.0f} ms")


if __name__ == "__main__":
    main()
