/* bench-window: how long the window takes, by real pointer events on a real display; JSON lines.
 *
 * Drag: from the time that an event carries to the end of the frame that shows its slice, or a later one. Dispatch: the
 * main thread's CPU time of one turn of the main loop less the frame clock's layout and painting, which stand apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "application.h"
#include "cli-util.h"
#include "core/memory.h"
#include "geometry-view.h"
#include "widget-util.h"
#include "window.h"

enum { EVENTS = 150 };

static GtkWidget *window;
static LamSession *session;
static gboolean failed; /* some promise was not kept */

/* -- turns of the main loop -- */

static double paint_ms, worst_ms, worst_paint_ms, turn_paint;
static int turns, slow;
static GArray *costs; /* of double: each turn that did something, ms */

static double
cpu_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double
now_ms (void)
{
  return g_get_monotonic_time () / 1e3;
}

static void
turn (void)
{
  double start = cpu_ms ();
  turn_paint = 0;
  g_main_context_iteration (NULL, TRUE);
  double other = cpu_ms () - start - turn_paint;
  turns++;
  slow += other > 4;
  worst_ms = fmax (worst_ms, other);
  if (other > 0.02)
    g_array_append_val (costs, other);
  worst_paint_ms = fmax (worst_paint_ms, turn_paint);
  if (other > 4 && g_getenv ("LAMINA_BENCH_VERBOSE") != NULL)
    g_printerr ("turn %d: %.2f ms\n", turns, other);
}

static void
reset (void)
{
  turns = slow = 0;
  worst_ms = worst_paint_ms = 0;
  g_array_set_size (costs, 0);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static void
report_turns (const char *task)
{
  g_array_sort (costs, by_value);
  double median = costs->len > 0 ? g_array_index (costs, double, costs->len / 2) : 0;
  double p95 = costs->len > 0 ? g_array_index (costs, double, costs->len * 95 / 100) : 0;
  g_print ("{\"task\":\"%s\",\"turns\":%d,\"over_4_ms\":%d,\"median_ms\":%.2f,\"p95_ms\":%.2f,\"max_ms\":%.2f,"
           "\"max_paint_ms\":%.2f}\n",
           task, turns, slow, median, p95, worst_ms, worst_paint_ms);
  failed |= slow > 0;
}

static guint patience = 30; /* seconds */

static gboolean
tired_cb (gpointer data)
{
  g_error ("waited %u seconds for nothing", patience);
  return G_SOURCE_REMOVE;
}

static void
wait_for (gboolean (*done) (void))
{
  guint alarm = g_timeout_add_seconds (patience, tired_cb, NULL);
  while (!done ())
    turn ();
  g_source_remove (alarm);
}

/* -- frames and events -- */

static GArray *latencies; /* of double, ms */
static struct {
  guint64 serial;
  double ms;
} asked[EVENTS * 4];
static int n_events, n_asked, n_answered; /* of them; n_asked have a serial */
static guint64 asked_before;              /* the newest request at the last frame */
static gboolean measuring;
static struct {
  LamSnapshot *shot; /* to be compared only */
  guint64 serial;
} came[64]; /* the newest live slices */
static guint64 drawn_serial;
static double first_slice_ms, first_run_ms;

static void
before_paint_cb (GdkFrameClock *clock, gpointer data)
{
  paint_ms = cpu_ms ();
  /* Whatever the hand did up to now is in the newest request; if it made none, it moved nothing. */
  guint64 newest = lam_session_get_live_asked (session);
  if (newest == asked_before)
    n_events = n_asked;
  while (n_asked < n_events)
    asked[n_asked++].serial = newest;
  asked_before = newest;
}

static void
after_paint_cb (GdkFrameClock *clock, gpointer data)
{
  turn_paint += cpu_ms () - paint_ms;
  LamSliceView *view = lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window)));
  LamSnapshot *drawn = lam_slice_view_get_drawn (view);
  if (drawn == NULL)
    return;
  if (first_slice_ms == 0)
    first_slice_ms = now_ms ();
  if (first_run_ms == 0 && lam_snapshot_info (drawn)->iteration >= 0)
    first_run_ms = now_ms ();
  for (guint i = 0; i < G_N_ELEMENTS (came); i++)
    if (came[i].shot == drawn && lam_snapshot_info (drawn)->iteration < 0)
      drawn_serial = MAX (drawn_serial, came[i].serial);
  for (; n_answered < n_asked && asked[n_answered].serial <= drawn_serial; n_answered++) {
    double ms = now_ms () - asked[n_answered].ms;
    g_array_append_val (latencies, ms);
  }
}

static void
snapshot_cb (LamSliceModel *slices, GParamSpec *pspec, gpointer data)
{
  guint64 serial = lam_session_get_live_shown (session);
  came[serial % G_N_ELEMENTS (came)].shot = lam_slice_model_get_snapshot (slices);
  came[serial % G_N_ELEMENTS (came)].serial = serial;
}

static gboolean
event_cb (GtkEventControllerLegacy *controller, GdkEvent *event, gpointer data)
{
  if (gdk_event_get_event_type (event) == GDK_MOTION_NOTIFY && n_events < (int) G_N_ELEMENTS (asked) && measuring) {
    asked[n_events].serial = 0;
    asked[n_events++].ms = gdk_event_get_time (event);
  }
  return FALSE;
}

/* -- what is waited for -- */

static gboolean
slice_is_drawn (void)
{
  return first_slice_ms > 0;
}

static gboolean
is_ready (void)
{
  return lam_session_get_state (session) == LAM_SESSION_READY && lam_session_has_data (session);
}

static gboolean
all_is_drawn (void)
{
  return lam_session_get_live_exact (session) == lam_session_get_live_asked (session)
         && n_answered == n_asked; /* an event that moved nothing asks for nothing */
}

static gboolean
run_is_drawn (void)
{
  return first_run_ms > 0;
}

static gboolean
has_iterations (void)
{
  return lam_series_get_n_rows (lam_session_get_series (session)) >= 3;
}

static LamSnapshot *live; /* the slice that the drag ended with */

static gboolean
result_is_shown (void)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  LamSnapshot *shot = lam_slice_model_get_snapshot (slices);
  return is_ready () && shot != live && lam_snapshot_info (shot)->generation == lam_slice_model_get_generation (slices);
}

static gboolean tool_ended;

static gboolean
tool_has_ended (void)
{
  return tool_ended;
}

static void
tool_ended_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  tool_ended = g_subprocess_wait_check_finish (G_SUBPROCESS (source), result, NULL);
  g_assert_true (tool_ended);
}

static void
xdotool (const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *line = g_strconcat ("xdotool ", words, NULL);
  g_auto (GStrv) argv = NULL;
  g_shell_parse_argv (line, NULL, &argv, NULL);
  g_autoptr (GSubprocess) process = g_subprocess_newv ((const char *const *) argv, G_SUBPROCESS_FLAGS_NONE, &error);
  g_assert_no_error (error);
  reset (); /* to make a process of one that holds gigabytes takes its time, and is no work of the window's */
  tool_ended = FALSE;
  g_subprocess_wait_check_async (process, NULL, tool_ended_cb, NULL);
  wait_for (tool_has_ended);
}

/* -- the measurements -- */

/* Seconds since this process was made. */
static double
age_ms (void)
{
  g_autofree char *text = NULL;
  struct timespec t;
  g_assert_true (g_file_get_contents ("/proc/self/stat", &text, NULL, NULL));
  g_auto (GStrv) fields = g_strsplit (strrchr (text, ')') + 2, " ", -1);
  clock_gettime (CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6 - g_ascii_strtod (fields[19], NULL) * 1e3 / (double) sysconf (_SC_CLK_TCK);
}

static GtkWidget *
find_widget (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *c = gtk_widget_get_first_child (widget); c != NULL && found == NULL;
       c = gtk_widget_get_next_sibling (c))
    found = find_widget (c, type);
  return found;
}

/* Drags @handle to and fro, across the rays or along them; the median is to be under @most ms. */
static void
measure_drag (const char *task, LamHandle handle, gboolean along, double most)
{
  GtkWidget *scene = find_widget (window, LAM_TYPE_GEOMETRY_VIEW);
  double axis_x, axis_y;
  int x, y;
  g_assert_true (lam_geometry_view_get_point (LAM_GEOMETRY_VIEW (scene), handle, &axis_x, &axis_y));
  test_screen_point (scene, axis_x, axis_y, &x, &y);
  g_autoptr (GString) words = g_string_new (NULL);
  g_string_printf (words, "mousemove %d %d mousedown 1 sleep 0.05", x, y);
  for (int i = 1; i <= EVENTS; i++)
    g_string_append_printf (words, " mousemove %d %d sleep 0.016", x + (along ? (int) rint (8 * sin (i * 0.2)) : i & 1),
                            y + (along ? i & 1 : (int) rint (8 * sin (i * 0.2))));
  g_string_append (words, " mouseup 1");
  g_array_set_size (latencies, 0);
  n_events = n_asked = n_answered = 0;
  measuring = TRUE;
  reset ();
  xdotool (words->str);
  wait_for (all_is_drawn);
  measuring = FALSE;
  g_assert_cmpuint (latencies->len, >, EVENTS / 3);
  qsort (latencies->data, latencies->len, sizeof (double), by_value);
  double median = g_array_index (latencies, double, latencies->len / 2);
  double p95 = g_array_index (latencies, double, latencies->len * 95 / 100);
  g_print ("{\"task\":\"%s\",\"size\":512,\"views\":180,\"sent\":%d,\"events\":%u,\"median_ms\":%.1f,\"p95_"
           "ms\":%.1f,"
           "\"max_ms\":%.1f}\n",
           task, EVENTS, latencies->len, median, p95, g_array_index (latencies, double, latencies->len - 1));
  failed |= median >= most;
  report_turns ("window-drag-dispatch");
}

static void
set (const char *id, GVariant *value)
{
  g_assert_true (lam_parameter_edit (lam_parameter_list_find (lam_session_get_parameters (session), id), value, NULL));
}

/* The last live slice is what FBP makes of the whole. */
static void
compare (void)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autofree char *method =
      g_strdup (lam_parameter_get_text (lam_parameter_list_find (lam_session_get_parameters (session), "method")));
  live = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  g_assert_cmpint (lam_snapshot_info (live)->iteration, ==, LAM_ITERATION_LIVE);
  set ("method", g_variant_new_string ("fbp"));
  lam_session_run (session);
  wait_for (result_is_shown);
  LamSnapshot *whole = lam_slice_model_get_snapshot (slices);
  const LamSnapshotInfo *info = lam_snapshot_info (whole);
  double largest = 0, peak = 0;
  g_assert_cmpint (info->index, ==, lam_snapshot_info (live)->index);
  for (int64_t i = 0; i < info->width * info->height; i++) {
    largest = fmax (largest, fabs ((double) lam_snapshot_pixels (live)[i] - lam_snapshot_pixels (whole)[i]));
    peak = fmax (peak, fabs ((double) lam_snapshot_pixels (whole)[i]));
  }
  lam_snapshot_unref (live);
  g_print ("{\"task\":\"window-drag-answer\",\"largest_difference\":%.3g}\n", largest / peak);
  failed |= largest / peak > 1e-5;
  set ("method", g_variant_new_string (method));
}

static void
measure_run (void)
{
  set ("iterations", g_variant_new_int64 (200));
  set ("stop_percent", g_variant_new_double (0));
  reset ();
  first_run_ms = 0;
  LamSliceModel *slices = lam_session_get_slices (session);
  uint64_t generation = lam_slice_model_get_generation (slices);
  double start = now_ms ();
  lam_session_run (session);
  g_assert_cmpuint (lam_slice_model_get_generation (slices), !=, generation);
  first_run_ms = 0;
  wait_for (run_is_drawn);
  wait_for (has_iterations);
  report_turns ("window-run-dispatch");
  double run_ms = first_run_ms - start;
  start = now_ms ();
  gtk_widget_activate_action (window, "win.discard", NULL);
  wait_for (is_ready);
  double discard_ms = now_ms () - start;
  g_print ("{\"task\":\"window-run\",\"first_picture_ms\":%.0f,\"discard_ms\":%.1f}\n", run_ms, discard_ms);
  failed |= discard_ms >= 100;
}

static gboolean settled;

static gboolean
settled_cb (gpointer data)
{
  settled = TRUE;
  return G_SOURCE_REMOVE;
}

static gboolean
has_settled (void)
{
  return settled;
}

/* Makes a scan with @command, opens it and lets the window come to rest. */
static void
open_scan (const char *command, const char *name)
{
  cli_run_free (cli_ok ("%s", command));
  g_autofree char *path = cli_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  /* An unsaved result would be asked about. */
  GListModel *results = G_LIST_MODEL (lam_session_get_results (session));
  while (g_list_model_get_n_items (results) > 0) {
    g_autoptr (LamResult) result = g_list_model_get_item (results, 0);
    lam_session_remove_result (session, result);
  }
  reset ();
  lam_window_open_file (LAM_WINDOW (window), file);
  turn ();
  wait_for (is_ready);
  g_assert_cmpstr (lam_session_get_title (session), ==, name);
  settled = FALSE;
  g_timeout_add_seconds (2, settled_cb, NULL);
  wait_for (has_settled);
  report_turns ("window-open-dispatch");
}

/* -- a large volume -- */

enum { SIDE = 1024 };

/* A result of SIDE cubed, 4 GiB, in view. */
static void
show_large (void)
{
  LamReconResult *recon = g_new0 (LamReconResult, 1);
  g_atomic_ref_count_init (&recon->refs);
  recon->geometry = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 180, SIDE, SIDE);
  lam_geometry_set_angles (recon->geometry, 0, G_PI);
  lam_geometry_auto_volume (recon->geometry, NULL);
  lam_recon_params_init (&recon->params);
  recon->iterations = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  recon->log = g_string_new (NULL);
  recon->volume = lam_alloc ((size_t) SIDE * SIDE * SIDE * sizeof *recon->volume, "a large volume", NULL);
  if (recon->volume == NULL)
    g_error ("no memory for a volume of 4 GiB");
  for (int64_t r = 0; r < SIDE; r++)
    for (int64_t c = 0; c < SIDE; c++) {
      float *line = recon->volume + (r * SIDE + c) * SIDE;
      double x = c - SIDE / 2.0, y = r - SIDE / 2.0;
      float value = hypot (x, y) < SIDE * 0.4 ? 0.01f + (float) ((r * 31 + c * 17) & 63) * 1e-5f : 0;
      for (int s = 0; s < SIDE; s++)
        line[s] = value * (float) (1 + (s & 31));
    }
  g_autoptr (LamResult) result = lam_result_new ("1024", recon, NULL, 0, &(LamPrepareParams){0});
  lam_recon_result_unref (recon);
  lam_results_add (lam_session_get_results (session), result);
  lam_session_show_result (session, result);
}

static gboolean
large_is_drawn (void)
{
  LamSliceView *view = lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window)));
  LamSnapshot *drawn = lam_slice_view_get_drawn (view);
  return drawn != NULL && lam_snapshot_info (drawn)->width == SIDE
         && lam_slice_model_is_settled (lam_session_get_slices (session)) && lam_slice_view_is_settled (view);
}

static gboolean
is_stored (void)
{
  return is_ready () && !lam_session_get_modified (session);
}

/* xdotool's @words, in the middle of the picture; the engine is not asked for anything. */
static void
measure_hands (const char *task, const char *words)
{
  GtkWidget *view =
      GTK_WIDGET (lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window))));
  guint64 asked = lam_session_get_live_asked (session);
  int x, y;
  test_screen_point (view, gtk_widget_get_width (view) / 2.0, gtk_widget_get_height (view) / 2.0, &x, &y);
  g_autofree char *line = g_strdup_printf ("mousemove %d %d %s", x, y, words);
  reset ();
  xdotool (line);
  wait_for (large_is_drawn);
  report_turns (task);
  g_assert_cmpuint (lam_session_get_live_asked (session), ==, asked);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_READY);
}

static void
measure_large (void)
{
  g_autoptr (GString) drag = g_string_new ("mousedown 3");
  for (int i = 1; i <= EVENTS; i++)
    g_string_append_printf (drag, " mousemove_relative -- %d %d sleep 0.016", i % 30 < 15 ? 3 : -3,
                            i % 22 < 11 ? 2 : -2);
  g_string_append (drag, " mouseup 3");
  wait_for (is_ready);
  show_large ();
  wait_for (large_is_drawn);
  /* Through a file and back: 4 GiB are written, sealed and read while the window lives. */
  g_autofree char *path = cli_path ("large.lamina.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  patience = 240;
  reset ();
  lam_session_save_session (session, file);
  wait_for (is_stored);
  report_turns ("window-1024-save");
  reset ();
  lam_window_open_file (LAM_WINDOW (window), file);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_OPENING);
  wait_for (is_ready);
  wait_for (large_is_drawn);
  report_turns ("window-1024-open");
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (session))), ==, 1);
  patience = 30;
  measure_hands ("window-1024-level", drag->str);
  measure_hands ("window-1024-wheel", "click --repeat 60 --delay 30 5 click --repeat 60 --delay 30 4");
  measure_hands ("window-1024-zoom",
                 "keydown ctrl click --repeat 12 --delay 40 4 click --repeat 14 --delay 40 5 keyup ctrl");
  measure_hands ("window-1024-keys", "click 1 key --delay 40 Down Down Down Page_Down Page_Down Home End r i i f");
}

int
main (int argc, char **argv)
{
  gboolean large = argc > 1 && g_str_equal (argv[1], "large");
  costs = g_array_new (FALSE, FALSE, sizeof (double));
  if (!test_ui_init (&argc, &argv))
    return 77;
  if (!test_have_xdotool ())
    return 77;
  cli_init ();
  latencies = g_array_new (FALSE, FALSE, sizeof (double));
  LamApplication *application = lam_application_new ();
  g_application_set_flags (G_APPLICATION (application), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, NULL));
  g_application_activate (G_APPLICATION (application));
  window = GTK_WIDGET (gtk_application_get_active_window (GTK_APPLICATION (application)));
  session = lam_window_get_session (LAM_WINDOW (window));
  GdkFrameClock *clock = gtk_widget_get_frame_clock (window);
  g_signal_connect (clock, "before-paint", G_CALLBACK (before_paint_cb), NULL);
  g_signal_connect_after (clock, "after-paint", G_CALLBACK (after_paint_cb), NULL);
  g_signal_connect (lam_session_get_slices (session), "notify::snapshot", G_CALLBACK (snapshot_cb), NULL);
  GtkEventController *events = gtk_event_controller_legacy_new ();
  gtk_event_controller_set_propagation_phase (events, GTK_PHASE_CAPTURE);
  g_signal_connect (events, "event", G_CALLBACK (event_cb), NULL);
  gtk_widget_add_controller (window, events);
  wait_for (slice_is_drawn);
  double start_ms = age_ms ();
  g_print ("{\"task\":\"window-start\",\"first_slice_ms\":%.0f,\"renderer\":\"%s\"}\n", start_ms,
           G_OBJECT_TYPE_NAME (gtk_native_get_renderer (GTK_NATIVE (window))));
  failed |= start_ms >= 1000;
  test_focus_window (window);
  if (large) {
    measure_large ();
    gtk_window_destroy (GTK_WINDOW (window));
    g_object_unref (application);
    cli_finish ();
    return failed;
  }

  open_scan ("project --phantom tooth --shape 512x512x4 --views 180 --seed 1 -o scan.h5", "scan.h5");
  measure_drag ("window-drag", LAM_HANDLE_AXIS, FALSE, 50);
  compare ();
  measure_run ();
  open_scan ("project --phantom tooth --shape 512x512x64 --geometry cone --source-detector 1200 --source-axis 800 "
             "--views 180 --seed 1 -o cone.h5",
             "cone.h5");
  measure_drag ("window-drag-cone-axis", LAM_HANDLE_AXIS, FALSE, 120);
  measure_drag ("window-drag-cone-detector", LAM_HANDLE_DETECTOR, FALSE, 120);
  measure_drag ("window-drag-cone-distance", LAM_HANDLE_SOURCE, TRUE, 120);
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (application);
  g_array_unref (latencies);
  cli_finish ();
  return failed;
}
