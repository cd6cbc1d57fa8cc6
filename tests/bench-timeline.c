/* bench-timeline.c: how long the window is busy with a long sequence: bench-timeline [BLOCKS]. Opening goes on beside; what
 * the main thread does is counted by its own processor time: to find the extremes, to paint them, and whole frames. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pulseq-util.h"
#include "timeline-view.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static double
own_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static int
compare (const void *a, const void *b)
{
  return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

static void
print (const char *what, double *ms, int n)
{
  qsort (ms, n, sizeof *ms, compare);
  printf ("%-34s median %7.3f ms, 95 %% %7.3f ms, most %7.3f ms\n", what, ms[n / 2], ms[n * 95 / 100], ms[n - 1]);
}

static gboolean
is_open (gpointer model)
{
  return lam_pulseq_model_get_file (model) != NULL && lam_pulseq_model_is_settled (model);
}

static gboolean
is_drawn (gpointer look)
{
  return lam_pulseq_look_is_settled (look);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  int64_t blocks = argc > 1 ? g_ascii_strtoll (argv[1], NULL, 10) : 1000000;
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "lamina-bench-timeline.seq", NULL);
  gsize size;
  g_autofree char *text = pulseq_gre (blocks, &size);
  g_file_set_contents (path, text, size, NULL);
  GtkWidget *window = window_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamPulseqModel *model = lam_sequence_session_get_pulseq (lam_window_get_sequence_session (LAM_WINDOW (window)));
  LamSequencePage *page = lam_window_get_sequence_page (LAM_WINDOW (window));
  LamPulseqLook *look = lam_sequence_page_get_look (page);
  LamTimelineView *view = LAM_TIMELINE_VIEW (lam_sequence_page_get_timeline (page));

  test_wait_frames (window, 5);
  /* How late the main loop is while the file is read. */
  gint64 began = g_get_monotonic_time (), last = began, latest = 0;
  lam_window_open_file (LAM_WINDOW (window), file);
  while (lam_pulseq_model_get_file (model) == NULL) {
    g_main_context_iteration (NULL, FALSE);
    gint64 now = g_get_monotonic_time ();
    latest = MAX (latest, now - last);
    last = now;
    g_usleep (200);
  }
  printf ("%" G_GINT64_FORMAT " blocks, %.1f MB: open after %.2f s; the main loop was away for %.1f ms at most\n",
          blocks, (double) size * 1e-6, (double) (g_get_monotonic_time () - began) * 1e-6, (double) latest * 1e-3);
  test_wait (is_open, model);
  test_wait (is_drawn, look);
  test_wait_frames (window, 3);

  const int n = 200;
  double find[200], paint[200], frame[200];
  for (int round = 0; round < 3; round++) {
    static const char *const names[] = {"all of it, moved", "a thousandth, moved", "zoomed step by step"};
    int64_t all = lam_pulseq_timing_duration (lam_pulseq_model_get_file (model)->timing), t0, t1;
    if (round == 0)
      lam_pulseq_look_set_range (look, 0, all / 10 * 9);
    else if (round == 1)
      lam_pulseq_look_set_range (look, all / 2, all / 2 + all / 1000);
    else
      lam_pulseq_look_whole (look);
    test_wait_frames (window, 3);
    printf ("%s\n", names[round]);
    for (int i = 0; i < n; i++) {
      double from = own_ms ();
      lam_pulseq_look_get_range (look, &t0, &t1);
      if (round < 2)
        lam_pulseq_look_pan (look, i % 20 < 10 ? 0.01 : -0.01);
      else
        lam_pulseq_look_zoom (look, 1.1, t0 + (t1 - t0) / 3);
      find[i] = own_ms () - from;
      test_wait_frames (window, 1);
      frame[i] = own_ms () - from;
      paint[i] = (double) lam_timeline_view_get_paint_us (view) * 1e-3;
    }
    print ("  extremes", find, n);
    print ("  painting", paint, n);
    print ("  main thread, the frame in all", frame, n);
  }
  window_close (window);
  remove (path);
  return 0;
}
