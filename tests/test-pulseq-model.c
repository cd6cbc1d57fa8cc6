/* test-pulseq-model.c: the Pulseq file behind the window: every file opens, what is looked at, its limits, its signal, and what
 * is drawn of it; broken files leave what there was. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "io/pulseq-read.h"
#include "model/pulseq-kspace.h"
#include "model/pulseq-look.h"
#include "model/sequence-session.h"
#include "mr/bloch.h"
#include "pulseq-util.h"

#define MS (LAM_PS_PER_S / 1000)

static gboolean
late_cb (gpointer late)
{
  *(gboolean *) late = TRUE;
  return G_SOURCE_REMOVE;
}

/* Runs the main loop until @done; a test that hangs is red. */
static void
wait_for (gboolean (*done) (gpointer), gpointer data)
{
  gboolean late = FALSE;
  guint source = g_timeout_add_seconds (30, late_cb, &late);
  while (!done (data) && !late)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (late);
  g_source_remove (source);
}

static gboolean
session_settled (gpointer session)
{
  return lam_pulseq_model_is_settled (lam_sequence_session_get_pulseq (session))
         && lam_sequence_session_is_settled (session);
}

static gboolean
look_settled (gpointer look)
{
  return lam_pulseq_look_is_settled (look);
}

static gboolean
kspace_drawn (gpointer kspace)
{
  LamKspaceFrame frame;
  return lam_pulseq_kspace_is_settled (kspace) && lam_pulseq_kspace_get_picture (kspace, &frame) != NULL;
}

static gboolean
kspace_known (gpointer kspace)
{
  double extent[3];
  return lam_pulseq_kspace_get_extent (kspace, extent);
}

/* Sources that were asked for still have to run. */
static void
settle (LamSequenceSession *s)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  wait_for (session_settled, s);
}

static void
count_cb (gpointer object, int *n)
{
  ++*n;
}

static void
failed_cb (LamPulseqModel *model, const char *text, char **told)
{
  g_free (*told);
  *told = g_strdup (text);
}

static void
end_session (LamSequenceSession *s)
{
  lam_sequence_session_close (s);
  g_assert_finalize_object (s);
}

/* ---- every file ---- */

static char *
data_folder (void)
{
  const char *dir = g_getenv ("LAMINA_SEQ_DIR");
  if (dir)
    return g_strdup (dir);
  return g_build_filename (g_test_get_dir (G_TEST_DIST), "..", "..", "shared", "data", "mr", NULL);
}

static void
check_file (LamSequenceSession *s, LamPulseqLook *look, LamPulseqKspace *kspace, const char *path)
{
  LamPulseqModel *model = lam_sequence_session_get_pulseq (s);
  LamPulseqSignal *signal = lam_sequence_session_get_pulseq_signal (s);
  guint8 colours[1024] = {0};
  lam_pulseq_model_open (model, path);
  settle (s);
  LamSequenceFile *file = lam_pulseq_model_get_file (model);
  g_assert_nonnull (file);
  g_assert_cmpstr (file->path, ==, path);
  g_assert_cmpuint (g_list_model_get_n_items (lam_pulseq_model_get_facts (model)), >=, 7);
  int64_t notes, t0, t1, n = lam_pulseq_model_count_problems (model, &notes);
  g_autofree char *summary = lam_pulseq_model_dup_summary (model);
  g_assert_true ((summary != NULL) == (n > 0));
  g_assert_cmpint (g_list_model_get_n_items (lam_pulseq_model_get_problems (model)), <=, n + notes);

  /* All of it is looked at, and there is something to say of every part. */
  wait_for (look_settled, look);
  lam_pulseq_look_get_range (look, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, LAM_MAX (lam_pulseq_timing_duration (file->timing), 10000));
  const LamPulseqWindow *w = lam_pulseq_look_get_window (look);
  float rf = 0;
  for (int64_t i = 0; i < w->n; i++)
    rf = fmaxf (rf, w->trace.high[LAM_PULSEQ_TRACE_RF][i]);
  g_assert_cmpfloat_with_epsilon (rf, file->rf, 1e-5 * file->rf + 1e-9);
  for (int i = 0; i < 20; i++) {
    g_autofree char *text = lam_pulseq_look_describe (look, t0 + (t1 - t0) / 20 * i);
    g_assert_nonnull (text);
  }

  /* The signal that the command line has too. */
  if (file->timing->samples > 0) {
    double time = 0;
    g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_READY);
    g_assert_cmpint (lam_pulseq_signal_get_samples (signal, &time), ==, file->timing->samples);
    lam_pulseq_kspace_set_shown (kspace, TRUE);
    wait_for (kspace_known, kspace);
    LamKspaceFrame frame = {LAM_KSPACE_XY, 0, 0, 1e6, 64, 48}; /* all of it in a few pixels */
    lam_pulseq_kspace_set_view (kspace, &frame, colours);
    wait_for (kspace_drawn, kspace);
    g_assert_cmpint (lam_pulseq_kspace_get_drawn (kspace), ==, file->timing->samples);
    lam_pulseq_kspace_set_shown (kspace, FALSE);
  } else
    g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_NONE);
  g_test_message ("%s: %d blocks, %d problems, %s", file->name, (int) lam_sequence_file_seq (file)->blocks, (int) n,
                  lam_pulseq_signal_get_text (signal));
}

static void
test_every_file (void)
{
  g_autofree char *folder = data_folder ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  if (!dir) {
    g_test_skip ("no Pulseq files: set LAMINA_SEQ_DIR");
    return;
  }
  LamSequenceSession *s = lam_sequence_session_new ();
  LamPulseqLook *look = lam_pulseq_look_new (lam_sequence_session_get_pulseq (s));
  LamPulseqKspace *kspace = lam_pulseq_kspace_new (lam_sequence_session_get_pulseq (s));
  int n = 0;
  lam_pulseq_look_set_columns (look, 500);
  for (const char *name; (name = g_dir_read_name (dir));)
    if (g_str_has_suffix (name, ".seq")) {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      check_file (s, look, kspace, path);
      n++;
    }
  g_assert_cmpint (n, >, 0);
  lam_pulseq_look_close (look);
  lam_pulseq_kspace_close (kspace);
  g_assert_finalize_object (look);
  g_assert_finalize_object (kspace);
  end_session (s);
}

/* ---- made files ---- */

static char *
write_file (const char *text, gssize size)
{
  g_autofree char *folder = g_dir_make_tmp ("lamina-model-XXXXXX", NULL);
  char *path = g_build_filename (folder, "made.seq", NULL);
  g_assert_true (g_file_set_contents (path, text, size, NULL));
  return path;
}

static void
remove_file (char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  remove (path);
  remove (folder);
  g_free (path);
}

static char *
write_gre (int64_t blocks)
{
  gsize size;
  g_autofree char *text = pulseq_gre (blocks, &size);
  return write_file (text, (gssize) size);
}

static void
test_refused (void)
{
  static const char *const broken[] = {
      "", "nonsense\n", "[VERSION]\nmajor 1\nminor 9\nrevision 0\n[BLOCKS]\n",
      "[VERSION]\nmajor 1\nminor 4\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\nBlockDurationRaster 1e-05\n"
      "GradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n[BLOCKS]\n1 100 1 x 0 0 0 0\n"};
  LamSequenceSession *s = lam_sequence_session_new ();
  LamPulseqModel *model = lam_sequence_session_get_pulseq (s);
  LamUndo *undo = lam_sequence_session_get_undo (s);
  char *path = write_gre (50);
  g_autofree char *told = NULL;
  g_signal_connect (model, "failed", G_CALLBACK (failed_cb), &told);
  lam_pulseq_model_open (model, path);
  settle (s);
  g_assert_null (told);
  LamSequenceFile *file = lam_pulseq_model_get_file (model);
  g_assert_nonnull (file);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++) {
    char *bad = write_file (broken[i], -1);
    g_clear_pointer (&told, g_free);
    lam_pulseq_model_open (model, bad);
    settle (s);
    g_test_message ("%s", told);
    g_assert_nonnull (told);
    g_assert_nonnull (strstr (told, "made.seq")); /* which file */
    if (i == 3)
      g_assert_nonnull (strstr (told, "made.seq:11:9")); /* and where */
    g_assert_true (lam_pulseq_model_get_file (model) == file);
    g_assert_cmpuint (lam_undo_get_n_steps (undo), ==, 1);
    remove_file (bad);
  }
  lam_pulseq_model_open (model, "/nowhere/at-all.seq");
  settle (s);
  g_assert_true (lam_pulseq_model_get_file (model) == file);

  /* One that goes away cannot be come back to; that is said, and nothing changes. */
  lam_pulseq_model_close_file (model);
  settle (s);
  char *other = write_gre (60);
  lam_pulseq_model_open (model, other);
  settle (s);
  g_assert_cmpint (lam_sequence_file_seq (lam_pulseq_model_get_file (model))->blocks, ==, 60);
  lam_undo_undo (undo);
  settle (s);
  g_assert_null (lam_pulseq_model_get_file (model));
  remove_file (path);
  g_clear_pointer (&told, g_free);
  lam_undo_undo (undo); /* to the first */
  settle (s);
  g_assert_nonnull (told);
  g_assert_null (lam_pulseq_model_get_file (model));
  lam_undo_redo (undo);
  lam_undo_redo (undo); /* to the other, which is still known */
  settle (s);
  g_assert_cmpint (lam_sequence_file_seq (lam_pulseq_model_get_file (model))->blocks, ==, 60);
  remove_file (other);
  end_session (s);
}

/* Columns are found once: what a window takes over from another is what it would have found. */
static void
test_windows (void)
{
  gsize size;
  g_autofree char *text = pulseq_gre (5000, &size);
  g_autoptr (LamPulseq) seq = lam_pulseq_parse ("gre", text, size, NULL, NULL);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, NULL);
  int64_t all = lam_pulseq_timing_duration (t);
  static const int64_t widths[] = {1000, 10000000, INT64_C (3141592653)};
  for (guint k = 0; k < G_N_ELEMENTS (widths); k++)
    for (int64_t shift = -350; shift <= 350; shift += 70) {
      int64_t width = widths[k], t0 = all / 3;
      g_autoptr (LamPulseqWindow) a = lam_pulseq_window_new (t, t0, width, 300, NULL, NULL);
      g_autoptr (LamPulseqWindow) b = lam_pulseq_window_new (t, t0 + shift * width, width, 300, NULL, NULL);
      g_autoptr (LamPulseqWindow) c = lam_pulseq_window_new (t, t0 + shift * width, width, 300, a, NULL);
      g_assert_cmpint (b->fresh, ==, 300);
      g_assert_cmpint (c->fresh, ==, LAM_MIN (ABS (shift), 300));
      g_assert_cmpint (lam_pulseq_window_missing (t0 + shift * width, width, 300, a), ==, c->fresh);
      for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
        g_assert_cmpmem (b->trace.low[i], 300 * sizeof (float), c->trace.low[i], 300 * sizeof (float));
        g_assert_cmpmem (b->trace.high[i], 300 * sizeof (float), c->trace.high[i], 300 * sizeof (float));
      }
      g_assert_cmpmem (b->trace.adc, 300, c->trace.adc, 300);
    }
  /* Another grid has nothing in common. */
  g_autoptr (LamPulseqWindow) a = lam_pulseq_window_new (t, 0, 1000, 300, NULL, NULL);
  g_assert_cmpint (lam_pulseq_window_missing (500, 1000, 300, a), ==, 300);
  g_assert_cmpint (lam_pulseq_window_missing (0, 999, 300, a), ==, 300);
}

/* Repetition and echo times of the gradient echo as they were written. */
static void
test_rulers (void)
{
  gsize size;
  g_autofree char *text = pulseq_gre (5000, &size);
  g_autoptr (LamPulseq) seq = lam_pulseq_parse ("gre", text, size, NULL, NULL);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (seq, NULL);
  g_autoptr (GArray) instants = lam_pulseq_instants (t, 100 * MS, 150 * MS, 64, NULL);
  g_autoptr (GArray) rulers = lam_pulseq_rulers (instants);
  int tr = 0, te = 0;
  for (guint i = 0; i < rulers->len; i++) {
    const LamPulseqRuler *r = &g_array_index (rulers, LamPulseqRuler, i);
    tr += r->kind == LAM_PULSEQ_TR;
    te += r->kind == LAM_PULSEQ_TE;
    g_assert_cmpint (r->kind, !=, LAM_PULSEQ_ESP);
    if (r->kind == LAM_PULSEQ_TR)
      g_assert_cmpint (r->to - r->from, ==, 14 * MS);
    else /* 1.56 ms from the pulse's centre to the block's end, 1 ms, and 2.3626 ms until the readout has undone what the
          * block before it did; to half a dwell */
      g_assert_cmpfloat_with_epsilon ((double) (r->to - r->from) / MS, 4.9226, 0.0063);
  }
  g_assert_cmpint (tr, >=, 4);
  g_assert_cmpint (te, >=, 4);
  /* Too many to be told apart: none. */
  g_autoptr (GArray) none = lam_pulseq_instants (t, 0, lam_pulseq_timing_duration (t), 64, NULL);
  g_assert_cmpuint (none->len, ==, 0);
}

/* Readouts are parted, their samples are not, however far one looks into them; from afar extremes stay. */
static void
test_curves (void)
{
  enum { READOUTS = 20, SAMPLES = 50, N = READOUTS * SAMPLES };
  int64_t ps[N], room = lam_signal_window_room (300);
  float re[2 * N], im[2 * N];
  g_autofree double *x = g_new (double, room), *y = g_new (double, 2 * room);
  for (int i = 0; i < N; i++) {
    ps[i] = i / SAMPLES * 10 * MS + i % SAMPLES * (MS / 50);
    re[i] = (float) (i % SAMPLES);
    re[N + i] = -2;
    im[i] = im[N + i] = 0;
  }
  re[7 * SAMPLES + 11] = 99;
  for (int zoom = 0; zoom < 3; zoom++) {
    int64_t t0 = zoom == 0 ? 0 : 70 * MS, t1 = zoom == 0 ? 200 * MS : zoom == 1 ? 91 * MS : 71 * MS;
    int64_t n = lam_signal_window (ps, re, im, 2, N, LAM_PART_REAL, t0, t1, 300, x, y);
    int parts = 1;
    double most = 0;
    g_assert_cmpint (n, <=, room);
    for (int64_t i = 0; i < n; i++) {
      g_assert_true (isnan (y[i]) == isnan (y[room + i]));
      g_assert_true (i == 0 || x[i] >= x[i - 1]);
      parts += isnan (y[i]);
      if (isfinite (y[i])) {
        most = fmax (most, y[i]);
        g_assert_cmpfloat (y[room + i], ==, -2);
      }
    }
    g_assert_cmpint (parts, ==, zoom == 0 ? READOUTS : zoom == 1 ? 3 : 1);
    g_assert_cmpfloat (most, ==, 99);
  }
  /* Single samples, evenly: one curve. */
  for (int i = 0; i < READOUTS; i++)
    ps[i] = i * 10 * MS;
  int64_t n = lam_signal_window (ps, re, im, 1, READOUTS, LAM_PART_REAL, 0, 200 * MS, 300, x, y);
  for (int64_t i = 0; i < n; i++)
    g_assert_true (isfinite (y[i]));
  g_assert_cmpint (n, >=, READOUTS);
  g_assert_cmpint (lam_signal_window (ps, re, im, 1, READOUTS, LAM_PART_REAL, 201 * MS, 300 * MS, 300, x, y), ==, 0);
}

/* Labels are counted on from marks as they are from the start. */
static void
test_labels (void)
{
  g_autoptr (GString) text =
      g_string_new ("[VERSION]\nmajor 1\nminor 4\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"
                    "BlockDurationRaster 1e-05\nGradientRasterTime 1e-05\n"
                    "RadiofrequencyRasterTime 1e-06\n[BLOCKS]\n");
  for (int b = 0; b < 1000; b++) /* LIN + 1 each; at 600 it is set to 7, SLC to 3 */
    g_string_append_printf (text, "%d 100 0 0 0 0 0 %d\n", b + 1, b == 600 ? 2 : 1);
  g_string_append (text, "[EXTENSIONS]\n1 2 1 0\n2 1 1 3\n3 1 2 0\nextension LABELSET 1\n1 7 LIN\n2 3 SLC\n"
                         "extension LABELINC 2\n1 1 LIN\n");
  char *path = write_file (text->str, -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamSequenceFile) file = lam_sequence_file_open (path, NULL, &error);
  g_assert_no_error (error);
  static const struct {
    int block, lin, slc;
  } cases[] = {{0, 1, 0}, {255, 256, 0}, {256, 257, 0}, {599, 600, 0}, {600, 7, 3}, {601, 8, 3}, {999, 406, 3}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *said = lam_sequence_file_describe (file, (cases[i].block * MS) + 1, MS),
                    *wanted = g_strdup_printf (" LIN %d ", cases[i].lin),
                    *slice = g_strdup_printf ("SLC %d", cases[i].slc);
    g_test_message ("%s", said);
    g_autofree char *ended = g_strconcat (said, " ", NULL);
    g_assert_nonnull (strstr (ended, wanted));
    g_assert_nonnull (strstr (ended, slice));
  }
  remove_file (path);
}

/* A long one is not begun by itself; begun, it can be stopped; what is asked last counts. */
static void
test_signal (void)
{
  LamSequenceSession *s = lam_sequence_session_new ();
  LamPulseqModel *model = lam_sequence_session_get_pulseq (s);
  LamPulseqSignal *signal = lam_sequence_session_get_pulseq_signal (s);
  LamParameter *spins = lam_parameter_list_find (lam_pulseq_signal_get_parameters (signal), "spins");
  char *path = write_gre (500);
  LamPulseqCurves curves;
  int told = 0;
  lam_pulseq_model_open (model, path);
  settle (s);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_READY);
  g_assert_false (lam_pulseq_signal_get_curves (signal, &curves)); /* nobody looks */
  lam_pulseq_signal_set_window (signal, 0, lam_pulseq_timing_duration (lam_pulseq_model_get_file (model)->timing), 200,
                                LAM_PART_MAGNITUDE);
  settle (s);
  g_assert_true (lam_pulseq_signal_get_curves (signal, &curves));
  g_assert_cmpint (curves.tissues, ==, 3);
  double most = 0;
  for (int64_t i = 0; i < curves.n; i++)
    most = fmax (most, curves.y[i]);
  g_assert_cmpfloat (most, >, 0.01);
  g_assert_cmpfloat (most, <, 1);

  g_assert_true (lam_parameter_edit (spins, g_variant_new_int64 (10000), NULL));
  settle (s);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_LARGE);
  g_assert_false (lam_pulseq_signal_get_curves (signal, &curves)); /* no stale ones */
  g_test_message ("%s", lam_pulseq_signal_get_text (signal));
  lam_pulseq_signal_start (signal);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_RUNNING);
  lam_pulseq_signal_stop (signal);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_STOPPED);
  settle (s);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_STOPPED);

  /* Many wishes in a row: one answer, of the last. */
  g_signal_connect (signal, "curves", G_CALLBACK (count_cb), &told);
  for (int i = 1; i <= 10; i++)
    g_assert_true (lam_parameter_set_value (spins, g_variant_new_int64 (i), NULL));
  settle (s);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_READY);
  g_assert_cmpint (told, ==, 1);
  g_signal_handlers_disconnect_by_func (signal, count_cb, &told);

  /* Closed while it goes on. */
  lam_parameter_set_value (spins, g_variant_new_int64 (10000), NULL);
  lam_pulseq_signal_start (signal);
  end_session (s);
  remove_file (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pulseq-model/every-file", test_every_file);
  g_test_add_func ("/pulseq-model/refused", test_refused);
  g_test_add_func ("/pulseq-model/windows", test_windows);
  g_test_add_func ("/pulseq-model/rulers", test_rulers);
  g_test_add_func ("/pulseq-model/curves", test_curves);
  g_test_add_func ("/pulseq-model/labels", test_labels);
  g_test_add_func ("/pulseq-model/signal", test_signal);
  return g_test_run ();
}
