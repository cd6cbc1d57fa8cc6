#!/usr/bin/env bash
# tests/screenshots.sh BUILD [FOLDER]: the real window on a virtual display, light and dark: the example as it opens, while it is
# reconstructed, and done. PNG files in BUILD/screenshots (or FOLDER). data/screenshot.png is one of them: light-2-running.png.
set -euo pipefail

build=$(realpath "$1")
to=${2:-$build/screenshots}
size=1440x900

if [ -z "${LAMINA_SCREENSHOTS:-}" ]; then
  mkdir -p "$to"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Nothing of the user's own: settings, state and recent files are in a folder of this run.
  mkdir -p "$work"/{config,state,data,cache,run}
  chmod 700 "$work/run"
  env -u WAYLAND_DISPLAY LAMINA_SCREENSHOTS="$work" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" \
    XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run" \
    GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y=none GSETTINGS_BACKEND=memory GIO_USE_VFS=local \
    G_MESSAGES_DEBUG=lamina LC_ALL=C.UTF-8 \
    xvfb-run -a -s "-screen 0 ${size}x24" dbus-run-session -- "$0" "$build" "$to"
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

# The screen, once it has been the same for a moment; at the latest after SECONDS.
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

for style in light dark; do
  : >"$said"
  "$build/app/lamina-gtk" "--$style" >"$said" 2>&1 &
  program=$!
  window=$(xdotool search --sync --onlyvisible --pid "$program" | tail -n 1)
  xdotool windowmove "$window" 0 0 windowsize --sync "$window" "${size%x*}" "${size#*x}" windowfocus --sync "$window"
  wait_said "bundled example"
  picture "$style-1-open"
  xdotool windowfocus --sync "$window" key alt+r
  wait_said "iteration 4:"
  picture "$style-2-running" 1
  wait_said "Reconstructed in"
  picture "$style-3-done"
  kill "$program" # the result is not saved, and nobody is asked about it
  wait "$program" || true
done
