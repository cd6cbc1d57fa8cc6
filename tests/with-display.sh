#!/bin/sh
# with-display.sh PROGRAM [ARGS]: runs a widget test on a display of its own, with software GL and no session services.
# Skips itself when this machine has no virtual display. (Not xvfb-run: under load it fails while it cleans up.)
for tool in Xvfb dbus-run-session; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "1..0 # SKIP $tool is not installed"
    exit 0
  fi
done
unset WAYLAND_DISPLAY
export GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y="${GTK_A11Y-none}" GSETTINGS_BACKEND=memory
export GSK_RENDERER="${GSK_RENDERER-cairo}" GIO_USE_VFS=local
# GLib and GTK are built without frame pointers: only the slow unwinder sees who asked for the memory that leaked. Not where
# software GL is used: its compiled code has nothing to unwind by.
case $1 in
*test-window*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}fast_unwind_on_malloc=0:malloc_context_size=12" ;;
esac
folder=$(mktemp -d)
Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp -noreset 3>"$folder/display" >/dev/null 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
tries=0
until [ -s "$folder/display" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 200 ] || ! kill -0 "$server" 2>/dev/null; then
    echo "Bail out! the virtual display did not start"
    exit 1
  fi
  sleep 0.1
done
DISPLAY=":$(cat "$folder/display")"
export DISPLAY
# What the services of that session say is no line of the test's.
dbus-run-session -- sh -c 'exec "$@" >&4 4>&-' sh "$@" 4>&1 >/dev/null
