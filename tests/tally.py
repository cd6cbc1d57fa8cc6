#!/usr/bin/env python3
"""tally.py [--status N] [--list | --first] TESTLOG.JSON…: counts the cases in meson's test log.

Prints what failed and why tests were skipped, then "N passed, N failed, N skipped": TAP cases, not programs. A program
that crashed, ran out of time or broke its own plan counts as one failure more, if none of its cases says so already.
--status: what `meson test` itself returned; a failure that the log does not show is one failed case.
Exit status 1 when anything failed.
"""

import argparse
import json
import re

CASE = re.compile(r"^\s*(not )?ok\b\s*\d*\s*(?:-\s*)?([^#]*?)\s*(?:#\s*(SKIP|TODO)\b\s*(.*))?$", re.IGNORECASE)


def tally_program(test):
    """Returns (passed, [failed], [(skipped, reason)]) of one program."""
    passed, failed, skipped = 0, [], []
    name, result, last_words = test["name"].split(" / ")[-1], test["result"], ""  # meson puts the suite before it
    for line in (test.get("stderr") or "").splitlines():
        if line.startswith("SUMMARY: "):  # a sanitizer's
            last_words = ": " + line[9:]
    for line in (test.get("stdout") or "").splitlines():
        case = CASE.match(line)
        if case:
            bad, title, directive, reason = case.groups()
            title = f"{name}: {title or 'case'}"
            if bad:
                failed.append(title)
            elif directive and directive.upper() == "SKIP":
                skipped.append((title, reason))
            elif directive:  # "ok # TODO": passes where it was expected not to
                failed.append(title + " (TODO)")
            else:
                passed += 1
        elif line.startswith("Bail out!"):
            last_words = ": " + line[9:].strip()
        elif re.match(r"^1\.\.0\b", line):
            skipped.append((name, line.partition("SKIP")[2].strip()))
    if result not in ("OK", "SKIP", "EXPECTEDFAIL") and not failed:
        failed.append(f"{name}: {result.lower()} after {test['duration']:.0f} s, status {test.get('returncode')}{last_words}")
    if not passed and not failed and not skipped:  # a program without TAP is one case
        if result == "SKIP":
            skipped.append((name, "exit status 77"))
        else:
            passed = 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--first", action="store_true", help="only the first failure, in a line")
    parser.add_argument("--list", action="store_true", help="a line for each program")
    parser.add_argument("log", nargs="+")
    args = parser.parse_args()
    passed, failed, skipped = 0, [], []
    for path in args.log:
        try:
            with open(path, encoding="utf-8", errors="replace") as log:
                tests = [json.loads(line) for line in log if line.strip()]
        except OSError as error:
            tests = []
            failed.append(f"no test log: {error}")
        for test in tests:
            p, f, s = tally_program(test)
            if args.list:
                print(f"{test['name']}: {p} passed, {len(f)} failed, {len(s)} skipped, {test['duration']:.1f} s")
            if f and not args.first:
                print(f"---- {test['name']}: the end of what it said")
                for stream in ("stdout", "stderr"):
                    for line in (test.get(stream) or "").splitlines()[-30:]:
                        print("  " + line)
            passed, failed, skipped = passed + p, failed + f, skipped + s
    if args.first:
        print(failed[0] if failed else "nothing failed")
        return 0
    if args.status and not failed:
        failed.append(f"meson test returned {args.status}")
    for title, reason in skipped:
        print(f"skipped: {title}: {reason}")
    for title in failed:
        print(f"failed: {title}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
