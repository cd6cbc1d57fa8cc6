#!/usr/bin/env bash
# Who may include whom. The order of subdir() in meson.build keeps most of it; this checks the rest:
# the layers' headers by name, GTK only in ui/ and the window's program, GObject only from engine/run/ upwards,
# and no private header outside its own folder. Prints each breach as file:line and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Folder, and the project headers that its files may include: an extended regular expression over the whole name.
# The innermost folder with a rule decides. Every layer may use config.h.
declare -A rules=(
  [engine/core]='core/.*'
  [engine/ct]='(core|ct)/.*'
  [engine/mr]='(core|mr)/.*'
  [engine/io]='(core|io)/.*|ct/geometry\.h|mr/(pulseq.*|dictionary)\.h'
  [draw]='(core|mr|draw)/.*'
  [engine/run]='(core|ct|mr|io|run)/.*'
  [app/model]='(io|run|model)/.*|core/(types|error|control|memory|plan|device)\.h|mr/(approximations|isochromats|number-list|pathway|states|model|template|tissue|crlb|presets|simulate|dictionary|match|design|bloch|limits|pulseq.*|signal-window)\.h|ct/(geometry|center|preprocess|weights|prior)\.h'
  [app/cli]='(core|ct|mr|io|run|draw|cli)/.*'
  [app]='(core|run|cli|model)/.*|[a-z-]+\.h'
  # The names of errors and ranges, which job and snapshot show already, are all that ui/ sees of core/.
  [ui]='model/.*|draw/.*|run/(job|snapshot|metrics|queue)\.h|ct/geometry\.h|core/(types|error)\.h|[a-z-]+\.h'
  [tests]='.*'
)
gobject='glib-object\.h|gio/.*|gmodule\.h|json-glib/.*'
toolkit='gtk/.*|gdk/.*|gsk/.*|adwaita\.h|epoxy/.*|cairo.*|pango/.*'

breaches=0
breach() {
  printf '%s: includes %s: %s\n' "$1" "$2" "$3"
  breaches=$((breaches + 1))
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^>"]*)'
while IFS=: read -r file line text; do
  [[ $text =~ $include ]]
  kind=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]}
  own=${file%/*} folder=${file%/*}
  while [ -z "${rules[$folder]:-}" ]; do
    if [[ $folder != */* ]]; then
      breach "$file:$line" "$name" "no rule for the folder $folder/: add one to .ci/check-includes.sh"
      continue 2
    fi
    folder=${folder%/*}
  done
  if [ "$kind" = '"' ]; then
    if [ "$name" != config.h ] && ! [[ $name =~ ^(${rules[$folder]})$ ]]; then
      breach "$file:$line" "$name" "not for $folder/ (style: who may include whom)"
    fi
    if [[ $name == *-private.h || $name == *-body.h ]] && [ ! -f "$own/${name##*/}" ]; then
      breach "$file:$line" "$name" "a private header of another folder"
    fi
  else
    if [[ $name =~ ^($toolkit)$ && $folder != ui && $folder != tests && ! ($folder == draw && $name == cairo.h) && $file != app/main.c && $file != app/application.* ]]; then
      breach "$file:$line" "$name" "no toolkit below ui/"
    fi
    # JSON is text for io/; json-glib has no other way in.
    if [[ $name =~ ^($gobject)$ && $folder =~ ^engine/(core|ct|mr|io)$ && ! ($folder == engine/io && $name == json-glib/*) ]]; then
      breach "$file:$line" "$name" "GObject begins at engine/run/"
    fi
  fi
done < <(find engine draw app ui tests -name '*.[ch]' -print0 | sort -z | xargs -0 grep -nE '^\s*#\s*include\s*[<"]')

[ "$breaches" -eq 0 ] || {
  echo "include direction: $breaches breach(es)"
  exit 1
}
echo "include direction: clean"
