#!/usr/bin/env bash
# tests/screenshots.sh BUILD [FOLDER [SIZE]]: the real window on a virtual display, light and dark: the example as it opens,
# while it is reconstructed, and done; every tab, dialog and state of a scan. PNG files in BUILD/screenshots (or FOLDER), at
# SIZE (1440x900). SCALE=2 draws twice as large, TEXT=1.5 all words; STYLES=dark
# leaves out the light ones. data/screenshot.png is light-02-running.png, data/screenshot-sequence.png light-21-drag.png.
set -euo pipefail

build=$(realpath "$1")
to=${2:-$build/screenshots}
size=${3:-1440x900}

if [ -z "${LAMINA_SCREENSHOTS:-}" ]; then
  mkdir -p "$to"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Nothing of the user's own: settings, state and recent files are in a folder of this run.
  mkdir -p "$work"/{config/gtk-4.0,config/lamina,state,data,cache,run}
  chmod 700 "$work/run"
  awk -v text="${TEXT:-1}" 'BEGIN { printf "[Settings]\ngtk-font-name=Sans %g\n", 10 * text }' >"$work/config/gtk-4.0/settings.ini"
  printf '[Lamina]\nautosave=1\n' >"$work/config/lamina/settings"
  "$build/app/lamina" project --phantom tooth --shape 256x256x64 --attenuation 3 --photons 20000 --seed 1 -o "$work/tooth.h5" >"$work/made"
  printf 'no HDF5 file' >"$work/broken.h5"
  env -u WAYLAND_DISPLAY LAMINA_SCREENSHOTS="$work" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" \
    XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run" GDK_SCALE="${SCALE:-1}" \
    GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=none GSETTINGS_BACKEND=memory GIO_USE_VFS=local \
    G_MESSAGES_DEBUG=lamina LC_ALL=C.UTF-8 \
    xvfb-run -a -s "-screen 0 ${size}x24" dbus-run-session -- "$0" "$build" "$to" "$size"
  exit
fi

# ---- inside the display ----
said=$LAMINA_SCREENSHOTS/said

# Waits until the program has said TEXT.
wait_said() {
  local i
  for ((i = 0; i < 600; i++)); do
    ! grep -qF "$1" "$said" || return 0
    sleep 0.1
  done
  echo "screenshots: the program never said \"$1\"; it said:" >&2
  cat "$said" >&2
  return 1
}

# The screen, once it has been the same for a moment; at the latest after TRIES looks.
picture() {
  local name=$1 i last='' now
  for ((i = 0; i < ${2:-40}; i++)); do
    import -window root "$LAMINA_SCREENSHOTS/now.png"
    now=$(convert "$LAMINA_SCREENSHOTS/now.png" rgba:- | md5sum)
    [ "$now" != "$last" ] || break
    last=$now
    sleep 0.3
  done
  convert "$LAMINA_SCREENSHOTS/now.png" -strip "$to/$name.png"
  echo "$to/$name.png"
}

# start ARGUMENTS: the program, its window as large as the screen and with the keys.
start() {
  : >"$said"
  "$build/app/lamina-gtk" "$@" >"$said" 2>&1 &
  program=$!
  window=$(xdotool search --sync --onlyvisible --pid "$program" | tail -n 1)
  xdotool windowmove "$window" 0 0 windowsize --sync "$window" "${size%x*}" "${size#*x}" windowfocus --sync "$window"
}

# The result is not saved, and nobody is asked about it.
stop() {
  kill "$program"
  wait "$program" || true
  rm -rf "$XDG_STATE_HOME/lamina" # that it ended so is not to be told
}

keys() {
  xdotool windowfocus --sync "$window" key --delay 40 "$@"
}

# dialog NAME: pictures the window that came up, and closes it.
dialog() {
  local other
  sleep 1
  other=$(xdotool search --onlyvisible --pid "$program" | grep -vx "$window" | tail -n 1)
  xdotool windowfocus --sync "$other"
  picture "$1" 8
  xdotool key Escape
  sleep 0.5
}

for style in ${STYLES:-light dark}; do
  start "--$style"
  wait_said "bundled example"
  picture "$style-01-open"
  keys alt+r
  wait_said "iteration 4:"
  picture "$style-02-running" 1
  wait_said "Reconstructed in"
  picture "$style-03-done"
  stop

  start "--$style" "$LAMINA_SCREENSHOTS/tooth.h5"
  wait_said "centre of rotation"
  picture "$style-04-scan"
  keys alt+2
  picture "$style-05-views"
  keys alt+3
  picture "$style-06-sinogram"
  keys alt+4 alt+w
  sleep 3
  picture "$style-07-geometry"
  keys alt+5
  picture "$style-08-compare-none"
  keys alt+1 F6 Return
  dialog "$style-09-import"
  keys F6 Escape space
  wait_said "iteration 2:"
  keys Escape
  dialog "$style-10-stop"
  wait_said "Reconstructed in"
  keys F6 space
  until [ "$(grep -c "Reconstructed in" "$said")" -gt 1 ]; do sleep 0.2; done
  keys alt+5
  picture "$style-11-compare"
  # Three planes, a circle and a line; the dialogs.
  keys alt+1 F6 F6 4
  picture "$style-12-planes"
  keys 1 o Return m Return v
  picture "$style-13-measured"
  keys F1
  dialog "$style-14-help"
  keys ctrl+comma
  dialog "$style-15-preferences"
  keys ctrl+question
  dialog "$style-16-shortcuts"
  keys ctrl+w
  dialog "$style-17-close"
  stop

  # Killed in the middle of a run with an edit, and started again.
  start "--$style" "$LAMINA_SCREENSHOTS/tooth.h5"
  wait_said "centre of rotation"
  keys F6 F6 F6 Down
  sleep 1
  keys space
  wait_said "iteration 3:"
  wait_said "kept with"
  kill -KILL "$program"
  wait "$program" || true
  start "--$style"
  wait_said "ended unexpectedly"
  picture "$style-18-recovered"
  keys alt+d
  sleep 1
  stop
  start "--$style" "$LAMINA_SCREENSHOTS/broken.h5"
  sleep 2
  picture "$style-19-error"
  stop

  # The sequence as it opens; a pulse pulled up, the hand still on it.
  start "--$style"
  wait_said "bundled example"
  keys ctrl+2
  sleep 1
  picture "$style-20-sequence"
  xdotool mousemove --window "$window" 800 240 mousedown 1 mousemove --window "$window" 800 210 mousemove --window "$window" 800 195
  sleep 1
  picture "$style-21-drag"
  xdotool mouseup 1
  stop
done
