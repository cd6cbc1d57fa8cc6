#include "config.h"

#include "cli/progress.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "core/error.h"
#include "core/threadpool.h"

#define INTERVAL_NS (INT64_C (100) * 1000 * 1000)
#define BAR 24

static LamControl control;
static _Atomic int asked, keep, signals; /* asked: the command looks at the control */

static struct {
  gboolean ready, terminal, shown, said_stop;
  char phase[64];      /* "iteration": what, without its numbers */
  int64_t begun, last; /* of the phase; of the last drawing */
  double first;        /* fraction at which the phase began to be timed */
} bar;

/* ---- signals ---- */

/* Nothing was begun, or what runs looks at no control and leaves nothing half done. Calls what a handler may call. */
static void
end_now (void)
{
  static const char text[] = "lamina: cancelled\n",
                    json[] = "{\"error\":{\"code\":\"cancelled\",\"message\":\"cancelled\"}}\n";
  if (write (STDERR_FILENO, text, sizeof text - 1) < 0
      || (lam_cli_json && write (STDOUT_FILENO, json, sizeof json - 1) < 0))
    errno = 0; /* nobody is there to be told */
  _exit (LAM_EXIT_CANCELLED);
}

static void
on_signal (int number)
{
  int n = atomic_fetch_add (&signals, 1) + 1;
  if (!atomic_load (&asked))
    end_now ();
  if (n > 2 || (n == 2 && atomic_load (&control.cancel))) {
    signal (number, SIG_DFL);
    raise (number);
    return;
  }
  if (n == 1 && atomic_load (&keep))
    atomic_store (&control.stop_keep, 1);
  else
    atomic_store (&control.cancel, 1);
}

void
lam_cli_catch_signals (void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
  sigemptyset (&action.sa_mask);
  signal (SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write, with words */
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++) {
    sigaction (numbers[i], NULL, &before);
    if (numbers[i] != SIGHUP || before.sa_handler != SIG_IGN) /* nohup's word stands */
      sigaction (numbers[i], &action, NULL);
  }
}

/* ---- progress ---- */

/* "iteration 7 of 15" -> 7, 15. */
static gboolean
counted (const char *what, int64_t *i, int64_t *n)
{
  const char *at = what;
  while (*at && !g_ascii_isdigit (*at))
    at++;
  char *end = NULL;
  *i = g_ascii_strtoll (at, &end, 10);
  if (end == at || !g_str_has_prefix (end, " of "))
    return FALSE;
  *n = g_ascii_strtoll (end + 4, NULL, 10);
  return *n > 0 && *i > 0;
}

static void
draw (const char *what, double fraction, double left)
{
  char cells[BAR + 1];
  int full = (int) (fraction * BAR + 0.5);
  memset (cells, '.', BAR);
  memset (cells, '#', LAM_CLAMP (full, 0, BAR));
  cells[BAR] = '\0';
  g_autofree char *rest =
      left >= 0 ? g_strdup_printf (_ (", about %s s left"), lam_cli_format ("%.0f", ceil (left))) : g_strdup ("");
  if (bar.terminal)
    fprintf (stderr, "\r[%s] %3.0f %%  %s%s\033[K", cells, 100 * fraction, what, rest);
  else
    fprintf (stderr, "%s%s\n", what, rest);
  bar.shown = bar.terminal;
  fflush (stderr);
}

static void
progress (const char *what, double done, double total, void *data)
{
  int64_t now = lam_clock_ns (), i, n;
  double fraction = total > 0 ? LAM_CLAMP (done / total, 0, 1) : 0;
  size_t name = strcspn (what, "0123456789");
  if (counted (what, &i, &n))
    fraction = ((double) (i - 1) + fraction) / (double) n;
  gboolean fresh = strncmp (bar.phase, what, name) != 0 || bar.phase[LAM_MIN (name, sizeof bar.phase - 1)];
  if (fresh) {
    g_strlcpy (bar.phase, what, LAM_MIN (name + 1, sizeof bar.phase));
    bar.begun = now;
    bar.first = fraction;
  }
  if (lam_cli_json)
    return;
  if (bar.terminal ? !fresh && now - bar.last < INTERVAL_NS : !fresh)
    return;
  double gone = (double) (now - bar.begun) / 1e9, part = fraction - bar.first;
  double left = gone > 0.5 && part > 0 ? gone / part * (1 - fraction) : -1;
  bar.last = now;
  if (atomic_load (&control.stop_keep) && !bar.said_stop) {
    bar.said_stop = TRUE;
    lam_cli_warn ("%s", _ ("stopping at the end of this iteration; its result is kept (Ctrl+C again: cancel)"));
  }
  draw (what, fraction, left);
}

void
lam_cli_progress_clear (void)
{
  if (!bar.shown)
    return;
  fputs ("\r\033[K", stderr);
  fflush (stderr);
  bar.shown = FALSE;
}

/* ---- the control ---- */

LamControl *
lam_cli_control (void)
{
  if (!bar.ready) {
    bar.ready = TRUE;
    bar.terminal = isatty (STDERR_FILENO) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
    control.progress = progress;
    atomic_store (&asked, 1);
  }
  return &control;
}

static gboolean
io_cancelled (gpointer data)
{
  return atomic_load (&control.cancel) != 0;
}

static void
io_progress (double fraction, const char *what, gpointer data)
{
  progress (what, fraction, 1, NULL);
}

const LamIoControl *
lam_cli_io (void)
{
  static const LamIoControl io = {io_cancelled, io_progress, NULL};
  lam_cli_control ();
  return &io;
}

void
lam_cli_keep (gboolean on)
{
  lam_cli_control ();
  atomic_store (&keep, on);
}

gboolean
lam_cli_go_on (GError **error)
{
  return lam_control_go_on (lam_cli_control (), error);
}
