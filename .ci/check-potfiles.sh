#!/usr/bin/env bash
# po/POTFILES.in names every file with text to translate, and only files that are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

listed=$(grep -vE '^\s*(#|$)' po/POTFILES.in | sort)
marked=$({
  find engine draw app ui -name '*.c' -print0 | xargs -0 grep -lE '\b(N?_|C_|g_dngettext|ngettext) \("' || true
  find ui -name '*.ui' -print0 | xargs -0 -r grep -lE 'translatable="(yes|true|1)"' || true
  find data -name '*.desktop.in' -o -name '*.metainfo.xml.in' -o -name '*.gschema.xml'
} | sort -u)

status=0
missing=$(comm -13 <(printf '%s\n' "$listed") <(printf '%s\n' "$marked"))
if [ -n "$missing" ]; then
  sed 's/^/not in po\/POTFILES.in: /' <<<"$missing"
  status=1
fi
twice=$(uniq -d <<<"$listed")
if [ -n "$twice" ]; then
  sed 's/^/twice in po\/POTFILES.in: /' <<<"$twice"
  status=1
fi
while read -r file; do
  [ -f "$file" ] || {
    echo "in po/POTFILES.in, but not there: $file"
    status=1
  }
done <<<"$listed"
[ "$status" -ne 0 ] || echo "POTFILES: complete"
exit "$status"
