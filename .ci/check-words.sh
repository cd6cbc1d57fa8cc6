#!/usr/bin/env bash
# Words that must not be in the sources:
#  - numbers read or written by the user's locale, where files and machines are the readers (case L1): g_ascii_strtod (),
#    g_ascii_formatd () and g_ascii_dtostr () are used instead. %.0f prints no decimal point and may stay.
#  - unfinished work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0

# found TEXT: what grep printed on standard input is a breach.
found() {
  local lines
  lines=$(cat)
  [ -n "$lines" ] || return 0
  printf '%s:\n%s\n' "$1" "$lines"
  status=1
}

found "numbers read by the locale" < <(
  find engine draw app ui -name '*.[ch]' -print0 |
    xargs -0 grep -nE '\b(atof|strtod|strtof|strtold|[sf]?scanf|vsscanf) *\('
)
# engine/run/ (run/numbers.h) and app/cli/ (main-cli.c) may print: there LC_NUMERIC is C on every thread that works.
# Left out: comments, formats that g_ascii_formatd () gets by name, and the texts of errors, which people read.
found "numbers printed by the locale" < <(
  find engine/io -name '*.[ch]' -print0 |
    xargs -0 grep -nE '"[^"]*%[-+ #0-9.*]*[aefgAEFG]' |
    grep -vE 'g_ascii_formatd|g_ascii_dtostr|char format\[\]|g_set_error' |
    sed -nE 's@^([^:]*:[0-9]*:)\s*(/\*|\*).*@@; s@/\*.*@@; /%[-+ #0-9.*]*[aefgAEFG]/{h;s/%[-+ #0-9]*\.0f//g;/%[-+ #0-9.*]*[aefgAEFG]/{g;p}}'
)
# The tally knows TAP's word for it.
found "unfinished" < <(
  find . \( -path ./build -o -path ./.git -o -path ./.ci/check-words.sh -o -path ./tests/tally.py -o -name LICENSE \) -prune \
    -o -type f -print0 |
    xargs -0 grep -nIwE 'TODO|FIXME|XXX|HACK'
)
[ "$status" -ne 0 ] || echo "words: clean"
exit "$status"
