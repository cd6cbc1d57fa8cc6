#!/bin/sh
# with-display.sh PROGRAM [ARGS]: runs a widget test on a display of its own, with software GL and no session services.
# Exit status 77 (skipped) when this machine has no virtual display.
for tool in xvfb-run dbus-run-session; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "1..0 # SKIP $tool is not installed"
    exit 0
  fi
done
unset WAYLAND_DISPLAY
export GDK_BACKEND=x11 LIBGL_ALWAYS_SOFTWARE=1 GTK_A11Y="${GTK_A11Y-none}" GSETTINGS_BACKEND=memory
export GSK_RENDERER="${GSK_RENDERER-cairo}" GIO_USE_VFS=local
exec xvfb-run -a -s "-screen 0 1440x900x24" dbus-run-session -- "$@"
