#!/usr/bin/env bash
# Every C file is as clang-format (version 14, Debian 12) leaves it. `.ci/check-format.sh --fix` rewrites what is not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
if [ "$version" != 14 ]; then
  echo "format: clang-format 14 decides; this is version $version"
  exit 1
fi
if [ "${1:-}" = --fix ]; then
  find engine draw app ui tests -name '*.[ch]' -print0 | xargs -0 clang-format -i
  exit
fi
bad=()
while IFS= read -r -d '' file; do
  clang-format "$file" | cmp -s - "$file" || bad+=("$file")
done < <(find engine draw app ui tests -name '*.[ch]' -print0 | sort -z)
if [ ${#bad[@]} -gt 0 ]; then
  printf 'not formatted: %s\n' "${bad[@]}"
  exit 1
fi
echo "format: clean"
