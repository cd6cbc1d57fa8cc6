/* test-pulseq.c: Pulseq files: the published cases (P1 to P11), damaged files, round trips, times and drawing. */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/pulseq-read.h"
#include "io/pulseq-write.h"
#include "mr/limits.h"
#include "mr/pulseq-timing.h"
#include "pulseq-util.h"

#define HEAD(minor, revision)                                                                                          \
  "[VERSION]\nmajor 1\nminor " #minor "\nrevision " #revision "\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"                 \
  "BlockDurationRaster 1e-05\nGradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n"
#define P1                                                                                                             \
  HEAD (5, 0)                                                                                                          \
  "TotalDuration 0.05\n[BLOCKS]\n1 45 1 0 0 0 0 0\n2 412 0 0 0 0 1 0\n3 4543 0 0 0 0 0 0\n"                            \
  "[RF]\n1 833.333 1 2 3 150 100 0 0 0 0 e\n[ADC]\n1 40 100000 20 0 0 0 0 0\n"                                         \
  "[SHAPES]\n\nshape_id 1\nnum_samples 2\n1\n1\n\nshape_id 2\nnum_samples 2\n0\n0\n\nshape_id 3\nnum_samples "         \
  "2\n0\n300"

static LamPulseq *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  LamPulseq *s = lam_pulseq_parse ("test.seq", text, strlen (text), NULL, &error);
  g_assert_no_error (error);
  return s;
}

static LamPulseqTiming *
timing (LamPulseq *s)
{
  g_autoptr (GError) error = NULL;
  LamPulseqTiming *t = lam_pulseq_timing_new (s, &error);
  g_assert_no_error (error);
  return t;
}

/* Refused with a message that holds each of the texts. */
#define REFUSED(text, ...)                                                                                             \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    GError *refused = NULL;                                                                                            \
    g_assert_null (lam_pulseq_parse ("test.seq", text, strlen (text), NULL, &refused));                                \
    test_error (refused, LAM_ERROR_FORMAT, __VA_ARGS__, NULL);                                                         \
  }                                                                                                                    \
  G_STMT_END

/* One problem says @text, at @line (0: anywhere). */
static void
assert_problem (const LamPulseq *s, LamPulseqSeverity severity, int64_t line, int64_t column, const char *text)
{
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    if (p->severity == severity && strstr (p->text, text) && (line == 0 || p->line == line)
        && (column == 0 || p->column == column))
      return;
  }
  for (guint i = 0; i < s->problems->len; i++) {
    const LamPulseqProblem *p = s->problems->pdata[i];
    g_test_message ("%d at %d:%d: %s", p->severity, (int) p->line, (int) p->column, p->text);
  }
  g_error ("no problem says \"%s\" at %d:%d", text, (int) line, (int) column);
}

static char *
replaced (const char *text, const char *from, const char *to)
{
  g_autoptr (GString) s = g_string_new (text);
  g_assert_cmpint (g_string_replace (s, from, to, 1), ==, 1);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

/* ---- the published cases ---- */

static void
test_p1_shapes_last (void)
{
  g_autoptr (LamPulseq) s = parse (P1);
  g_autoptr (LamPulseqTiming) t = timing (s);
  g_assert_cmpint (s->blocks, ==, 3);
  g_assert_cmpint (s->duration[0], ==, 450000000);
  g_assert_cmpint (s->duration[1], ==, 4120000000);
  g_assert_cmpint (s->duration[2], ==, 45430000000);
  g_assert_cmpint (lam_pulseq_timing_duration (t), ==, 50000000000);
  g_assert_cmpfloat_with_epsilon (t->rf[0].flip * 180 / G_PI, 90.0, 0.01);
  g_assert_cmpint (s->rf[0].delay + t->rf[0].center, ==, 250000000);
  int64_t ps[40];
  g_assert_true (lam_pulseq_kspace (t, 0, 40, NULL, ps, NULL));
  g_assert_cmpint (ps[0], ==, 520000000);
  g_assert_cmpint (ps[39], ==, 4420000000);
  g_assert_cmpint (s->signature, ==, LAM_PULSEQ_SIGNATURE_NONE);
  g_assert_cmpuint (s->problems->len, ==, 0);
}

static void
test_p2_block_raster (void)
{
  const char *text = "[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"
                     "BlockDurationRaster 5e-06\nGradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n"
                     "[BLOCKS]\n1 300 0 1 0 0 0 0\n2 300 0 1 0 0 0 0\n[TRAP]\n1 100000 500 500 500 0\n";
  g_autoptr (LamPulseq) s = parse (text);
  g_autoptr (LamPulseqTiming) t = timing (s);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (s->duration[0], ==, 1500000000);
  g_assert_cmpint (lam_pulseq_timing_duration (t), ==, 3000000000);
  g_assert_cmpuint (s->problems->len, ==, 0);
  g_autofree char *path = test_path ("p2.seq");
  lam_pulseq_write (s, path, 5, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  gsize size;
  g_autofree char *back = test_read_file (path, &size);
  g_assert_nonnull (strstr (back, "\n1 300 0 1 0 0 0 0\n2 300 0 1 0 0 0 0\n"));
  g_assert_nonnull (strstr (back, "BlockDurationRaster 5e-06\n"));
}

static void
test_p3_sample_times (void)
{
  g_autoptr (LamPulseq) s = parse (HEAD (5, 0) "[BLOCKS]\n1 20 0 0 0 0 1 0\n[ADC]\n1 4 10000 100 0 0 0 0 0\n");
  g_autoptr (LamPulseqTiming) t = timing (s);
  int64_t ps[4];
  g_assert_true (lam_pulseq_kspace (t, 0, 4, NULL, ps, NULL));
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (ps[i], ==, 105000000 + i * INT64_C (10000000));
}

static void
test_p4_no_amplitude (void)
{
  g_autoptr (GString) text =
      g_string_new (HEAD (4, 1) "[BLOCKS]\n1 20 104 0 0 0 0 0\n[RF]\n104 0.0 8 9 10 0 0.0 0.0\n[SHAPES]\n");
  for (int shape = 8; shape <= 10; shape++) {
    g_string_append_printf (text, "\nshape_id %d\nnum_samples 99\n", shape);
    for (int i = 0; i < 99; i++)
      g_string_append_printf (text, "%s\n", shape == 8 ? (i % 2 ? "1" : "0.5") : shape == 9 ? "0" : "");
    if (shape == 10) { /* times */
      g_string_truncate (text, text->len - 99);
      for (int i = 0; i < 99; i++)
        g_string_append_printf (text, "%d\n", 2 * i + 1);
    }
  }
  g_autoptr (LamPulseq) s = parse (text->str);
  g_autoptr (LamPulseqTiming) t = timing (s);
  g_assert_cmpint (lam_pulseq_problems (s, LAM_PULSEQ_ERROR), ==, 0);
  g_assert_cmpfloat (t->rf[0].flip, ==, 0);
  g_assert_cmpint (t->rf[0].pulse.samples, ==, 99);
  g_assert_cmpint (t->rf[0].pulse.duration, ==, 197000000);
  g_assert_cmpint (t->rf[0].center, ==, 99000000); /* halfway */
}

static void
test_p5_digest_is_text (void)
{
  static const char *const hashes[] = {"9731349875117297474679317e925476", "12345678901234567890123456789012"};
  for (guint i = 0; i < G_N_ELEMENTS (hashes); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strdup_printf ("%s\n[SIGNATURE]\nType md5\nHash %s\n", P1, hashes[i]);
    g_autoptr (LamPulseq) s = parse (text);
    g_assert_cmpint (s->signature, ==, LAM_PULSEQ_SIGNATURE_DIFFERS);
    g_assert_cmpstr (s->signature_hash, ==, hashes[i]);
    g_autofree char *path = test_path ("p5.seq"), *hash = NULL;
    lam_pulseq_write (s, path, 5, LAM_PULSEQ_SIGN_KEEP, NULL, NULL, &hash, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (hash, ==, hashes[i]);
    g_autoptr (LamPulseq) again = lam_pulseq_open (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (again->signature_hash, ==, hashes[i]);
  }
  /* By either case of letters. */
  g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_MD5, P1, -1), *upper = g_ascii_strup (digest, -1);
  g_autofree char *text = g_strdup_printf ("%s\n[SIGNATURE]\nType md5\nHash %s\n", P1, upper);
  g_autoptr (LamPulseq) s = parse (text);
  g_assert_cmpint (s->signature, ==, LAM_PULSEQ_SIGNATURE_MATCHES);
}

static void
test_p6_stale_signature (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = test_data_file ("mr/fid.seq");
  if (!path)
    return;
  gsize size;
  g_autofree char *text = test_read_file (path, &size), *other = replaced (text, " 2 2000 ", " 2 2001 ");
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, &error), changed = parse (other), unsigned_one = parse (P1);
  g_assert_no_error (error);
  g_assert_cmpstr (lam_pulseq_signature_name (s->signature), ==, "matches");
  g_assert_cmpint (changed->signature, ==, LAM_PULSEQ_SIGNATURE_DIFFERS);
  g_assert_cmpint (changed->blocks, ==, 64);
  assert_problem (changed, LAM_PULSEQ_WARNING, 0, 0, "does not match");
  g_assert_cmpint (unsigned_one->signature, ==, LAM_PULSEQ_SIGNATURE_NONE);

  const int32_t event[LAM_PULSEQ_COLUMNS] = {1};
  g_assert_true (lam_pulseq_append (s, 430000000, event, &error));
  g_assert_cmpint (s->blocks, ==, 65);
  g_assert_cmpint (s->signature, ==, LAM_PULSEQ_SIGNATURE_NONE);
  g_assert_null (s->signature_hash);
  g_autofree char *out = test_path ("p6.seq"), *hash = NULL;
  lam_pulseq_write (s, out, 5, LAM_PULSEQ_SIGN, NULL, NULL, &hash, &error);
  g_assert_no_error (error);
  lam_pulseq_signed (s, hash);
  g_assert_cmpint (s->signature, ==, LAM_PULSEQ_SIGNATURE_MATCHES);
  g_autoptr (LamPulseq) saved = lam_pulseq_open (out, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (saved->signature, ==, LAM_PULSEQ_SIGNATURE_MATCHES);
  g_assert_cmpstr (saved->signature_hash, ==, hash);
  g_assert_cmpint (saved->blocks, ==, 65);
  const int32_t wrong[LAM_PULSEQ_COLUMNS] = {7};
  g_assert_false (lam_pulseq_append (s, 0, wrong, NULL));
}

static void
test_p8_compression (void)
{
  static const double want[] = {0, .1, .25, .5, 1, 1, 1, 1, 1, 1, 1, .75, .5, .25, 0};
#define SHAPE_OF(minor, num, list) HEAD (minor, 0) "[BLOCKS]\n[SHAPES]\n\nshape_id 1\nnum_samples " #num "\n" list
#define LIST "0\n.1\n.15\n.25\n.5\n0\n0\n4\n-.25\n-.25\n2\n"
  g_autoptr (LamPulseq) s = parse (SHAPE_OF (5, 15, LIST));
  const double *v = lam_pulseq_shape_values (s, 0, NULL);
  for (int i = 0; i < 15; i++)
    g_assert_cmpfloat_with_epsilon (v[i], want[i], 1e-12);
  REFUSED (SHAPE_OF (5, 14, LIST), "test.seq:13", "shape 1", "more samples");
  REFUSED (SHAPE_OF (5, 16, LIST), "test.seq:13", "fewer samples");

#define FIFTEEN ".1\n.2\n.3\n.4\n.5\n.6\n.7\n.8\n.9\n.8\n.7\n.6\n.5\n.4\n.3\n"
  g_autoptr (LamPulseq) plain = parse (SHAPE_OF (4, 15, FIFTEEN)), old = parse (SHAPE_OF (3, 15, FIFTEEN));
  v = lam_pulseq_shape_values (plain, 0, NULL);
  g_assert_cmpfloat_with_epsilon (v[14], .3, 1e-12);
  v = lam_pulseq_shape_values (old, 0, NULL);
  g_assert_cmpfloat_with_epsilon (v[1], .3, 1e-12);
  g_assert_cmpfloat_with_epsilon (v[14], 7.8, 1e-12);

  lam_memory_reset_peak ();
  int64_t before = lam_memory_peak ();
  REFUSED (SHAPE_OF (5, 15, "0\n0\n-1\n"), "repeat count");
  REFUSED (SHAPE_OF (5, 15, "0\n0\n1e9\n"), "repeat count");
  REFUSED (SHAPE_OF (5, 15, "0\n0\n1e7\n"), "more samples");
  REFUSED (SHAPE_OF (5, 15, ".1\n0\n0\n"), "missing at its end");
  REFUSED (SHAPE_OF (5, 15, "0\n0\n1.5\n"), "repeat count");
  REFUSED (SHAPE_OF (5, 1000000000000, "0\n0\n1e9\n"), "num_samples");
  REFUSED (SHAPE_OF (5, 0, ""), "num_samples");
  REFUSED (SHAPE_OF (5, 15, "0\nnan\n"), "test.seq:16:1", "nan", "expected a number");
  g_assert_cmpint (lam_memory_peak () - before, <, 1 << 20);

  /* And there and back. */
  double values[400], packed[402], back[400];
  for (int i = 0; i < 400; i++)
    values[i] = i < 100 ? i / 128.0 : i < 300 ? 0.78 : sin (i);
  int64_t n = lam_pulseq_shape_compress (values, 400, packed);
  const char *why = NULL;
  g_assert_cmpint (n, <, 150);
  g_assert_true (lam_pulseq_shape_valid (packed, n, 400, &why));
  lam_pulseq_shape_decompress (packed, n, back, 400);
  for (int i = 0; i < 400; i++)
    g_assert_cmpfloat_with_epsilon (back[i], values[i], 1e-15);
}

static void
test_p9_versions (void)
{
  static const struct {
    const char *file;
    int64_t total_us, first_ns;
  } files[] = {{"mr/simple_mprage120.seq", 576240, 14615000},
               {"mr/simple_mprage131.seq", 569220, 14445000},
               {"mr/simple_mprage141.seq", 569220, 14445000},
               {"mr/simple_mprage150.seq", 569220, 14445000}};
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = test_data_file (files[i].file);
    if (!path)
      return;
    g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (LamPulseqTiming) t = timing (s);
    g_assert_cmpint (s->blocks, ==, 390);
    g_assert_cmpint (t->pulses, ==, 99);
    g_assert_cmpint (t->readouts, ==, 96);
    g_assert_cmpint (t->samples, ==, 96 * 32);
    int64_t ps;
    g_assert_true (lam_pulseq_kspace (t, 0, 1, NULL, &ps, NULL));
    g_assert_cmpint (ps, ==, files[i].first_ns * 1000);
    g_assert_cmpint (lam_pulseq_timing_duration (t), ==, files[i].total_us * 1000000);
    for (int64_t r = 0; r < s->rfs; r++)
      g_assert_cmpfloat_with_epsilon (t->rf[r].flip * 180 / G_PI, r == 0 ? 180 : 90, 0.01);
  }
  g_autofree char *path = test_data_file (files[1].file);
  gsize size;
  g_autofree char *text = test_read_file (path, &size), *post = replaced (text, "revision 1", "revision 1post1");
  g_autoptr (LamPulseq) s = parse (post);
  g_assert_cmpint (s->revision, ==, 1);
  assert_problem (s, LAM_PULSEQ_NOTE, 0, 0, "1post1");
  REFUSED ("[VERSION]\nmajor 1\nminor 9\nrevision 0\n[BLOCKS]\n", "1.9.0", "1.2 to 1.5");
  REFUSED ("[VERSION]\nmajor 1\nminor 1\nrevision 0\n[BLOCKS]\n", "1.1.0");
  REFUSED ("[VERSION]\nmajor 1\nrevision 0\n[BLOCKS]\n", "lacks minor");
  REFUSED ("[VERSION]\nmajor one\n", "test.seq:2:7");
  REFUSED ("[DEFINITIONS]\nName x\n[BLOCKS]\n1 1 0 0 0 0 0 0\n", "no [VERSION]");
  REFUSED ("hello\n", "not a Pulseq file");
  REFUSED ("", "not a Pulseq file");
}

static void
test_p10_empty_sections (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = test_data_file ("mr/seq_adc_only.seq"), *out = test_path ("p10.seq");
  if (!path)
    return;
  g_autoptr (LamPulseq) only = lam_pulseq_open (path, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LamPulseqTiming) t = timing (only);
  int64_t ps[100];
  double k[300];
  g_assert_cmpint (lam_pulseq_timing_duration (t), ==, 10000000000);
  g_assert_cmpint (t->samples, ==, 100);
  g_assert_true (lam_pulseq_kspace (t, 0, 100, k, ps, NULL));
  for (int i = 0; i < 100; i++) {
    g_assert_cmpint (ps[i], ==, 50000000 + i * INT64_C (100000000));
    g_assert_cmpfloat (k[i], ==, 0);
  }
  static const char *const texts[] = {HEAD (5, 0) "[BLOCKS]\n",
                                      HEAD (5, 0) "[BLOCKS]\n1 100 0 0 0 0 0 0\n2 7 0 0 0 0 0 0\n",
                                      HEAD (5, 0) "[BLOCKS]\n1 0 0 0 0 0 0 0\n"};
  static const int64_t us[] = {0, 1070, 0};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (LamPulseq) s = parse (texts[i]);
    g_autoptr (LamPulseqTiming) none = timing (s);
    g_assert_cmpint (lam_pulseq_timing_duration (none), ==, us[i] * 1000000);
    if (i == 0)
      assert_problem (s, LAM_PULSEQ_NOTE, 0, 0, "no blocks");
    float low[8], high[8];
    LamPulseqTrace trace = {.low = {low}, .high = {high}};
    g_assert_true (lam_pulseq_trace (none, 0, LAM_MAX (us[i], 1) * 1000000, 8, &trace, NULL));
    g_assert_cmpfloat (high[7], ==, 0);
    g_assert_true (lam_pulseq_kspace (none, 0, 10, k, ps, NULL));
    lam_pulseq_write (s, out, 5, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (LamPulseq) again = lam_pulseq_open (out, NULL, &error);
    g_assert_no_error (error);
    pulseq_assert_same (s, again, FALSE);
  }
  g_autoptr (LamPulseq) no_blocks = parse (HEAD (5, 0));
  assert_problem (no_blocks, LAM_PULSEQ_ERROR, 0, 0, "[BLOCKS]");
}

static void
test_p11_ppm (void)
{
  const double f0 = 123.2e6;
  g_assert_cmpfloat_with_epsilon (lam_pulseq_freq (0, 3.4, f0), 418.88, 0.01);
  double phase = lam_pulseq_freq (0.5, 0.0841, f0);
  g_assert_cmpfloat_with_epsilon (phase, 10.86112, 1e-5);
  g_assert_cmpfloat_with_epsilon (fmod (phase, 2 * G_PI), 4.57793, 1e-5);
  g_autofree char *text = replaced (P1, "150 100 0 0 0 0 e", "150 100 3.4 0.0841 0 0.5 e");
  g_autoptr (LamPulseq) s = parse (text), plain = parse (P1);
  g_assert_true (lam_pulseq_needs_f0 (s));
  g_assert_false (lam_pulseq_needs_f0 (plain));
  g_assert_cmpfloat (s->rf[0].freq_ppm, ==, 3.4); /* stays in ppm */
  g_assert_cmpfloat (s->rf[0].freq, ==, 0);
}

static void
test_s5_long (void)
{
  gsize size;
  g_autoptr (GError) error = NULL;
  static const int64_t blocks[] = {8192, 1000000}, seconds[] = {4096, 500000};
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = pulseq_empty (blocks[i], 50000, &size);
    g_autoptr (LamPulseq) s = lam_pulseq_parse ("long.seq", text, size, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (LamPulseqTiming) t = timing (s);
    g_assert_cmpint (lam_pulseq_timing_duration (t), ==, seconds[i] * LAM_PS_PER_S);
    g_assert_cmpint (lam_pulseq_block_at (t, 100 * LAM_PS_PER_S), ==, 200);
  }
  REFUSED (HEAD (5, 0) "[BLOCKS]\n1 100000000000000 0 0 0 0 0 0\n", "test.seq:11:1", "11 days");
  g_autofree char *many = pulseq_empty (10, INT64_C (90000000000), &size);
  REFUSED (many, "46 days");
}

/* ---- locale ---- */

static void
test_locale (void)
{
  if (!test_german ())
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = replaced (P1, "833.333", "0.25"), *path = test_path ("locale.seq");
  g_autoptr (LamPulseq) s = parse (text);
  g_assert_cmpfloat (s->rf[0].amplitude, ==, 0.25);
  lam_pulseq_write (s, path, 5, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  gsize size;
  g_autofree char *back = test_read_file (path, &size);
  g_assert_nonnull (strstr (back, "\n1 0.25 1 2 3 150 100 0 0 0 0 e\n"));
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[RF]\n1 0,25 1 2 3 150 100 0 0 0 0 e\n", "test.seq:12:3", "0,25");
  test_plain_locale ();
}

static void
test_numbers (void)
{
  static const char *const texts[] = {"0",
                                      "-0",
                                      "1e3",
                                      "1.5E-3",
                                      "+7",
                                      ".5",
                                      "5.",
                                      "1e22",
                                      "1e-30",
                                      "1e308",
                                      "-1e-310",
                                      "12345678901234567890123",
                                      "0.1",
                                      "3.14159265358979323846",
                                      "9007199254740993",
                                      "1.7976931348623157e308",
                                      "000000000000000000000000.25",
                                      "0.000000000000000000000000000025"};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *text = g_strdup_printf (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1 %s 1 1 1 0\n", texts[i]);
    g_autoptr (LamPulseq) s = parse (text);
    g_assert_cmpfloat (s->gradient[0].amplitude, ==, g_ascii_strtod (texts[i], NULL));
  }
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1 1e400 1 1 1 0\n", "1e400");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1 5x 1 1 1 0\n", "test.seq:12:3");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1 5 -1 1 1 0\n", "test.seq:12:5");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1 5 1 1\n", "test.seq:12:8", "the line's end");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n[TRAP]\n1.5 5 1 1 1 0\n", "test.seq:12:1");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n1 1 0 0 0 0\n", "test.seq:11:12");
  REFUSED (HEAD (5, 0) "[BLOCKS]\n1 1 0 0 0 0 99999999999 0\n", "test.seq:11:13");
  REFUSED (HEAD (5, 0) "[ADC]\n1 9e15 1e9 0 0 0 0 0 0\n", "more than can be played");
}

/* ---- problems ---- */

static void
test_problems (void)
{
  g_autoptr (LamPulseq) s =
      parse ("[VERSION]\nmajor 1\nminor 5\nrevision 7\n[DEFINITIONS]\nRequiredExtensions MAGIC\n"
             "GradientRasterTime zero\nTotalDuration 3\n[BLOCKS]\n"
             "1 100 9 0 8 0 0 4 77\n3 2 1 0 0 0 0 2\n2 2 2 0 0 0 1 0\n"
             "[RF]\n1 10 1 2 0 0 0 0 0 0 0 q\n2 10 3 3 0 0 0 0 0 0 0 e\n2 20 1 0 0 0 0 0 0 0 0 e\n"
             "[ADC]\n1 8 1000 0 0 0 0 0 2\n"
             "[EXTENSIONS]\n1 1 1 2\n2 9 1 1\n4 5 1 0\n"
             "extension MAGIC 5\n1 abra cadabra\n[STRANGE]\nkept as it is\n"
             "[SHAPES]\nshape_id 1\nnum_samples 3\n1\n1\n1\nshape_id 2\nnum_samples 4\n1\n1\n1\n1\n");
  assert_problem (s, LAM_PULSEQ_NOTE, 1, 0, "1.5.7");
  assert_problem (s, LAM_PULSEQ_WARNING, 0, 0, "no AdcRasterTime");
  assert_problem (s, LAM_PULSEQ_ERROR, 0, 0, "GradientRasterTime is \"zero\"");
  assert_problem (s, LAM_PULSEQ_ERROR, 0, 0, "requires the extension \"MAGIC\"");
  assert_problem (s, LAM_PULSEQ_ERROR, 10, 7, "RF event 9");
  assert_problem (s, LAM_PULSEQ_ERROR, 10, 11, "GY gradient 8");
  assert_problem (s, LAM_PULSEQ_WARNING, 10, 19, "more columns");
  assert_problem (s, LAM_PULSEQ_WARNING, 12, 1, "block 2 comes after block 3");
  assert_problem (s, LAM_PULSEQ_ERROR, 14, 24, "its use is q");
  assert_problem (s, LAM_PULSEQ_ERROR, 14, 1, "another number of samples");
  assert_problem (s, LAM_PULSEQ_ERROR, 15, 1, "its shape is not there");
  assert_problem (s, LAM_PULSEQ_ERROR, 16, 1, "2 is there twice");
  assert_problem (s, LAM_PULSEQ_ERROR, 18, 1, "as many samples");
  assert_problem (s, LAM_PULSEQ_ERROR, 0, 0, "in a circle");
  assert_problem (s, LAM_PULSEQ_WARNING, 0, 0, "no extension has");
  assert_problem (s, LAM_PULSEQ_WARNING, 23, 1, "\"MAGIC\" is not known");
  assert_problem (s, LAM_PULSEQ_WARNING, 25, 1, "[STRANGE]");
  assert_problem (s, LAM_PULSEQ_WARNING, 0, 0, "TotalDuration");
  g_assert_cmpint (s->event[LAM_PULSEQ_RF][2], ==, 3); /* the last of two */
  g_assert_cmpint (s->event[LAM_PULSEQ_EXT][0], ==, 3);

  g_autoptr (LamPulseq) late = parse (HEAD (5, 0) "[BLOCKS]\n1 10 0 1 0 0 0 0\n[TRAP]\n1 5 50 50 50 0\n");
  assert_problem (late, LAM_PULSEQ_ERROR, 0, 0, "gradient of block 1");
}

/* ---- there and back ---- */

#define EXTENDED                                                                                                       \
  HEAD (5, 1)                                                                                                          \
  "Name turned \xc3\xbc\nRequiredExtensions ROTATIONS\n[BLOCKS]\n1 30 1 0 0 0 0 1\n2 40 0 1 2 3 1 3\n3 0 0 0 0 0 0 "   \
  "2\n"                                                                                                                \
  "4 40 0 4 0 0 0 0\n[RF]\n1 50.125 1 2 0 12.5 100 -3.45 0.0841 17.5 0.7071067811865476 e\n"                           \
  "[GRADIENTS]\n1 1000.5 0 500.25 3 0 0\n2 -2000 -10 20 3 -1 10\n4 500.25 500.25 0 5 6 0\n[TRAP]\n3 1e5 10 100 20.5 "  \
  "3\n"                                                                                                                \
  "[ADC]\n1 5 12345 7 1.5 0.25 100 0.5 4\n"                                                                            \
  "[EXTENSIONS]\n1 1 1 2\n2 2 1 4\n3 5 1 0\n4 3 1 5\n5 4 1 6\n6 6 1 7\n7 7 3 0\n"                                      \
  "extension LABELSET 1\n1 17 LIN\n2 -3 SLC\nextension LABELINC 2\n1 1 PAR\n"                                          \
  "extension TRIGGERS 3\n1 2 1 0 2000\nextension DELAYS 4\n1 0 -7840 2 TE\n2 1 100 -0.5 TR long name\n"                \
  "extension ROTATIONS 5\n1 0.99171 0 0 -0.128498\nextension RF_SHIMS 6\n1 2 1 0 0.7 1.5708\n"                         \
  "extension MYOWN 7\n3 some text 4.5\n[SHAPES]\n\nshape_id 1\nnum_samples 100\n1\n0\n0\n97\n\nshape_id 2\n"           \
  "num_samples 100\n0\n0\n98\n\nshape_id 3\nnum_samples 5\n0.1\n0.3333333333333333\n1\n0.5\n0.25\n\nshape_id 4\n"      \
  "num_samples 5\n0\n0.1\n0.2\n0.4\n0.8\n\nshape_id 5\nnum_samples 3\n1\n0.5\n0\n\nshape_id 6\nnum_samples "           \
  "3\n0\n10\n40\n"

static void
test_round_trip (void)
{
  static const char *const files[] = {"mr/fid.seq",          "mr/seq_adc_only.seq",     "mr/seq_make_sinc_pulses.seq",
                                      "mr/write_gre.seq",    "mr/simple_mprage120.seq", "mr/simple_mprage131.seq",
                                      "mr/write_mprage.seq", "mr/simple_mprage141.seq", "mr/simple_mprage150.seq",
                                      "mr/write_tse.seq"};
  g_autofree char *out = test_path ("round.seq"), *twice = test_path ("twice.seq");
  for (guint i = 0; i <= G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = i < G_N_ELEMENTS (files) ? test_data_file (files[i]) : NULL;
    if (i < G_N_ELEMENTS (files) && !path)
      return;
    g_autoptr (LamPulseq) s = path ? lam_pulseq_open (path, NULL, &error) : parse (EXTENDED);
    g_assert_no_error (error);
    for (int minor = 4; minor <= 5; minor++) {
      g_autofree char *hash = NULL;
      if (!path && minor == 4)
        continue;
      lam_pulseq_write (s, out, minor, LAM_PULSEQ_SIGN, NULL, NULL, &hash, &error);
      g_assert_no_error (error);
      g_autoptr (LamPulseq) back = lam_pulseq_open (out, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (back->signature, ==, LAM_PULSEQ_SIGNATURE_MATCHES);
      g_assert_cmpint (back->minor, ==, minor);
      pulseq_assert_same (s, back, FALSE);
      lam_pulseq_write (back, twice, minor, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
      gsize a, b;
      g_autofree char *x = test_read_file (out, &a), *y = test_read_file (twice, &b);
      g_assert_cmpmem (x, a, y, b);
      g_assert_cmpint (test_leftovers (out), ==, 0);
    }
  }
}

static void
test_down_to_1_4 (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *out = test_path ("down.seq");
  g_autoptr (LamPulseq) s = parse (EXTENDED);
  g_assert_false (lam_pulseq_write (s, out, 4, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "RF event 1", "ppm", "write 1.5", NULL);
  g_assert_false (g_file_test (out, G_FILE_TEST_EXISTS));
  g_assert_false (lam_pulseq_write (s, out, 3, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "1.3", NULL);

  /* The ends of gradients survive: 1.4 gets them as points. */
  g_autoptr (GPtrArray) told = NULL;
  g_autoptr (LamPulseq) g =
      parse (HEAD (5, 0) "[BLOCKS]\n1 6 0 1 0 0 0 0\n2 5 0 2 0 0 0 0\n[GRADIENTS]\n1 1000 0 700 1 -1 30\n"
                         "2 800 700 100 1 0 0\n[SHAPES]\nshape_id 1\nnum_samples 5\n0.1\n0.3\n1\n0.5\n0.25\n");
  g_autoptr (LamPulseqTiming) t = timing (g);
  lam_pulseq_write (g, out, 4, LAM_PULSEQ_SIGN, NULL, &told, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (told->len, ==, 1);
  g_autoptr (LamPulseq) back = lam_pulseq_open (out, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LamPulseqTiming) u = timing (back);
  for (int b = 0; b < 2; b++) {
    double m[4];
    lam_pulseq_moments (t, b, 0, &m[0], &m[1]);
    lam_pulseq_moments (u, b, 0, &m[2], &m[3]);
    g_assert_cmpfloat_with_epsilon (m[0], m[2], 1e-12);
    g_assert_cmpfloat_with_epsilon (m[1], m[3], 1e-12);
  }
}

static void
test_up_from_1_2 (void)
{
  /* Durations of old files need no raster: 115 us and 20 us have 5 us in common. */
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) told = NULL;
  g_autofree char *out = test_path ("up.seq");
  g_autoptr (LamPulseq) s = parse ("[VERSION]\nmajor 1\nminor 2\nrevision 0\n[BLOCKS]\n1 1 0 0 0 0 0\n2 2 0 0 0 0 0\n"
                                   "[DELAYS]\n1 115\n2 20\n");
  lam_pulseq_write (s, out, 5, LAM_PULSEQ_SIGN, NULL, &told, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (told->len, ==, 1);
  g_autoptr (LamPulseq) back = lam_pulseq_open (out, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (back->block_raster, ==, 5000000);
  g_assert_cmpint (back->duration[0], ==, 115000000);
  g_assert_cmpint (back->duration[1], ==, 20000000);
  g_assert_cmpuint (back->problems->len, ==, 0);
}

static void
test_binary (void)
{
  static const char *const files[] = {"mr/write_mprage.seq", "mr/fid.seq", NULL};
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = files[i] ? test_data_file (files[i]) : NULL;
    g_autofree char *text = replaced (EXTENDED, "extension MYOWN 7\n3 some text 4.5\n", "");
    if (files[i] && !path)
      return;
    g_autoptr (LamPulseq) s = path ? lam_pulseq_open (path, NULL, &error) : parse (text);
    g_assert_no_error (error);
    g_autoptr (GByteArray) bytes = pulseq_binary (s);
    g_autoptr (LamPulseq) b = lam_pulseq_parse ("test.bseq", (char *) bytes->data, bytes->len, NULL, &error);
    g_assert_no_error (error);
    g_assert_true (b->binary);
    g_assert_cmpint (b->signature, ==, LAM_PULSEQ_SIGNATURE_MATCHES);
    pulseq_assert_same (s, b, TRUE);
    g_autofree char *out = test_path ("from-binary.seq");
    lam_pulseq_write (b, out, 5, LAM_PULSEQ_SIGN, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (LamPulseq) again = lam_pulseq_open (out, NULL, &error);
    g_assert_no_error (error);
    pulseq_assert_same (b, again, FALSE);

    bytes->data[bytes->len / 3] ^= 1;
    g_autoptr (LamPulseq) damaged = lam_pulseq_parse ("test.bseq", (char *) bytes->data, bytes->len, NULL, NULL);
    g_assert_true (!damaged || damaged->signature == LAM_PULSEQ_SIGNATURE_DIFFERS);
  }
  GError *error = NULL;
  char old[40] = "\001pulseq\002";
  old[8] = 1;
  old[16] = 5;
  g_assert_null (lam_pulseq_parse ("old.bseq", old, 32, NULL, &error));
  test_error (error, LAM_ERROR_FORMAT, "1.5.0", "1.5.2", NULL);
}

/* ---- damage ---- */

/* Opens and, when that works, does everything with it. */
static void
use (const char *path)
{
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, NULL);
  if (!s)
    return;
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, NULL);
  if (!t)
    return;
  float low[50], high[50];
  double k[300];
  guint8 adc[50];
  LamPulseqTrace trace = {.low = {low, low, low, low}, .high = {high, high, high, high}, .adc = adc};
  int64_t all = lam_pulseq_timing_duration (t);
  lam_pulseq_trace (t, 0, LAM_MAX (all, 1), 50, &trace, NULL);
  lam_pulseq_trace (t, all / 3, LAM_MAX (all / 2, 1), 50, &trace, NULL);
  lam_pulseq_kspace (t, t->samples / 2, LAM_MIN (100, t->samples - t->samples / 2), k, NULL, NULL);
  for (int64_t b = 0; b < LAM_MIN (s->blocks, 20); b++)
    lam_pulseq_waveform (t, b, 0, 0, NULL, NULL, NULL);
  g_autofree char *out = test_path ("damaged-out.seq");
  lam_pulseq_write (s, out, 4 + (int) (s->blocks & 1), LAM_PULSEQ_SIGN, NULL, NULL, NULL, NULL);
}

static void
test_damage_text (void)
{
  static const char *const names[] = {"fid.seq", "extended.seq", "tse.seq"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = test_path (names[i]),
                    *data = i == 1 ? NULL : test_data_file (i == 0 ? "mr/fid.seq" : "mr/write_tse.seq");
    gsize size = strlen (EXTENDED);
    if (i != 1 && !data)
      return;
    g_autofree char *text = data ? test_read_file (data, &size) : g_strdup (EXTENDED);
    test_write_file (path, text, size);
    test_cut (path, i == 1 ? 200 : 60, use);
    test_damage (path, i == 1 ? 400 : 100, 20240101 + i, use);
  }
}

/* Whole words replaced by hostile ones, in this process: thousands of files. */
static void
test_hostile_words (void)
{
  static const char *const words[] = {"-1", "0", "1e9",        "999999999999", "-0.5",     "nan",
                                      "x",  "",  "2147483647", "1e-300",       "[SHAPES]", "shape_id 1",
                                      "\n", "#", "4294967296", "1e400",        "[BLOCKS]", "extension A 1"};
  g_auto (GStrv) parts = g_strsplit (EXTENDED, " ", -1);
  GRand *rand = g_rand_new_with_seed (7);
  guint n = g_strv_length (parts);
  int opened = 0;
  for (int round = 0; round < 4000; round++) {
    g_autoptr (GString) text = g_string_new (NULL);
    guint at = g_rand_int_range (rand, 0, n), other = g_rand_int_range (rand, 0, n);
    for (guint i = 0; i < n; i++)
      g_string_append_printf (text, "%s ",
                              i == at || (round % 3 == 0 && i == other)
                                  ? words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))]
                                  : parts[i]);
    g_autoptr (LamPulseq) s = lam_pulseq_parse ("hostile.seq", text->str, text->len, NULL, NULL);
    if (!s)
      continue;
    opened++;
    g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, NULL);
    double k[30];
    if (t)
      lam_pulseq_kspace (t, 0, LAM_MIN (10, t->samples), k, NULL, NULL);
  }
  g_test_message ("%d of 4000 could be opened", opened);
  g_assert_cmpint (opened, >, 100);
  g_rand_free (rand);
}

static void
test_damage_binary (void)
{
  g_autofree char *text = replaced (EXTENDED, "extension MYOWN 7\n3 some text 4.5\n", ""),
                  *path = test_path ("damage.bseq");
  g_autoptr (LamPulseq) s = parse (text);
  g_autoptr (GByteArray) bytes = pulseq_binary (s);
  GRand *rand = g_rand_new_with_seed (11);
  for (int round = 0; round < 4000; round++) {
    g_autofree char *copy = g_memdup2 (bytes->data, bytes->len);
    for (int k = g_rand_int_range (rand, 1, 4); k > 0; k--)
      copy[g_rand_int_range (rand, 0, bytes->len)] = (char) g_rand_int_range (rand, 0, 256);
    g_autoptr (LamPulseq) b = lam_pulseq_parse ("damaged.bseq", copy, bytes->len, NULL, NULL);
    g_autoptr (LamPulseqTiming) t = b ? lam_pulseq_timing_new (b, NULL) : NULL;
  }
  for (gsize n = 0; n < bytes->len; n++) {
    g_autofree char *copy = g_memdup2 (bytes->data, n);
    g_autoptr (LamPulseq) b = lam_pulseq_parse ("cut.bseq", copy, n, NULL, NULL);
    if (b)
      g_assert_cmpint (b->signature, ==, LAM_PULSEQ_SIGNATURE_NONE);
  }
  g_rand_free (rand);
  test_write_file (path, bytes->data, bytes->len);
  test_damage (path, 100, 5, use);
}

/* ---- faults ---- */

static void
test_no_memory (void)
{
  g_autofree char *path = test_data_file ("mr/write_gre.seq");
  if (!path)
    return;
  for (int n = 1;; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, &error);
    g_autoptr (LamPulseqTiming) t = s ? lam_pulseq_timing_new (s, &error) : NULL;
    int64_t asked = lam_memory_fail_at (0);
    if (t) {
      g_assert_cmpint (asked, <, n);
      g_assert_cmpint (n, >, 10);
      break;
    }
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
  }
}

static void
test_cancel (void)
{
  gsize size;
  g_autofree char *text = pulseq_gre (400000, &size), *path = test_path ("cancel.seq"), *out = test_path ("kept.seq");
  test_write_file (path, text, size);
  test_write_file (out, "old", 3);
  TestControl c;
  GError *error = NULL;
  test_control (&c, 4);
  g_assert_null (lam_pulseq_open (path, &c.control, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_clear_error (&error);
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, NULL);
  test_control (&c, 2);
  g_assert_false (lam_pulseq_write (s, out, 5, LAM_PULSEQ_SIGN, &c.control, NULL, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_clear_error (&error);
  g_autofree char *kept = test_read_file (out, &size);
  g_assert_cmpmem (kept, size, "old", 3);
  g_assert_cmpint (test_leftovers (out), ==, 0);
  g_assert_null (lam_pulseq_open ("/nowhere/at/all.seq", NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_IO);
  g_clear_error (&error);
}

/* ---- times and drawing ---- */

static void
test_refocusing (void)
{
  /* A prewinder of area A between 90 and 180, then a readout over 2 A: k = -A at its start, 0 at its middle. */
  g_autoptr (LamPulseq) s = parse (HEAD (
      5, 0) "[BLOCKS]\n1 30 1 0 0 0 0 0\n2 100 0 1 0 0 0 0\n3 30 2 0 0 0 0 0\n4 200 0 2 0 0 1 0\n"
            "[RF]\n1 833.333 1 2 3 150 0 0 0 0 0 e\n2 1666.666 1 2 3 150 0 0 0 0 0 r\n"
            "[TRAP]\n1 100000 0 1000 0 0\n2 100000 0 2000 0 0\n[ADC]\n1 20 100000 0 0 0 0 0 0\n[SHAPES]\nshape_id 1\n"
            "num_samples 2\n1\n1\nshape_id 2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n300\n");
  g_autoptr (LamPulseqTiming) t = timing (s);
  double k[60];
  g_assert_true (lam_pulseq_kspace (t, 0, 20, k, NULL, NULL));
  for (int i = 0; i < 20; i++)
    g_assert_cmpfloat_with_epsilon (k[i], -100 + 10 * (i + 0.5), 1e-9);
}

static void
test_rotation (void)
{
  /* A quarter turn about z: x becomes y. */
  g_autoptr (LamPulseq) s = parse (HEAD (
      5, 1) "[BLOCKS]\n1 12 0 1 0 0 0 1\n2 12 0 1 0 0 1 0\n[TRAP]\n1 100000 10 100 10 0\n[ADC]\n1 4 30000 0 0 0 0 0 0\n"
            "[EXTENSIONS]\n1 3 2 0\nextension ROTATIONS 3\n1 1 0 0 0\n2 0.70710678118654757 0 0 0.70710678118654757\n");
  g_autoptr (LamPulseqTiming) t = timing (s);
  double m0, m1, k[12], value[16];
  int64_t ps[16];
  lam_pulseq_moments (t, 0, 1, &m0, &m1);
  g_assert_cmpfloat_with_epsilon (m0, 11, 1e-12);
  lam_pulseq_moments (t, 0, 0, &m0, &m1);
  g_assert_cmpfloat_with_epsilon (m0, 0, 1e-12);
  g_assert_true (lam_pulseq_kspace (t, 0, 4, k, NULL, NULL));
  g_assert_cmpfloat_with_epsilon (k[4], 11, 1e-12);
  g_assert_cmpint (lam_pulseq_waveform (t, 0, 1, 16, ps, value, NULL), ==, 4);
  g_assert_cmpfloat_with_epsilon (value[1], 100000, 1e-9);
  g_assert_cmpint (ps[2], ==, 110000000);
  g_assert_cmpint (lam_pulseq_waveform (t, 1, 0, 16, ps, value, NULL), ==, 4);
  g_assert_cmpint (lam_pulseq_waveform (t, 1, 1, 16, ps, value, NULL), ==, 0);
}

/* Extremes of a bucket by brute force over finely spaced times. */
static void
test_trace (void)
{
  gsize size;
  g_autofree char *text = pulseq_gre (20000, &size);
  g_autoptr (LamPulseq) s = lam_pulseq_parse ("gre.seq", text, size, NULL, NULL);
  g_autoptr (LamPulseqTiming) t = timing (s);
  int64_t all = lam_pulseq_timing_duration (t);
  GRand *rand = g_rand_new_with_seed (3);
  for (int round = 0; round < 60; round++) {
    enum { N = 16, STEPS = 400 };
    float low[LAM_PULSEQ_TRACES][N], high[LAM_PULSEQ_TRACES][N];
    guint8 adc[N];
    LamPulseqTrace trace = {.adc = adc};
    for (int c = 0; c < LAM_PULSEQ_TRACES; c++) {
      trace.low[c] = low[c];
      trace.high[c] = high[c];
    }
    double zoom = pow (10, -g_rand_double_range (rand, 0, 6));
    int64_t width = LAM_MAX ((int64_t) ((double) all * zoom), N),
            t0 = (int64_t) (g_rand_double (rand) * (double) (all - width));
    g_assert_true (lam_pulseq_trace (t, t0, t0 + width, N, &trace, NULL));
    for (int i = 0; i < N; i++) {
      int64_t a = t0 + width * i / N, b = t0 + width * (i + 1) / N;
      gboolean open = FALSE;
      for (int k = 0; k < STEPS; k++) { /* never outside the extremes; and they are reached where the look is close */
        int64_t at = a + (b - a) * k / STEPS, block = lam_pulseq_block_at (t, at);
        for (int c = 0; c < 3; c++) {
          int32_t row = s->event[LAM_PULSEQ_GX + c][block] - 1;
          LamPulseqLine l;
          double g = 0;
          if (row >= 0) {
            g_assert_true (lam_pulseq_line (s, &s->gradient[row], &l, NULL));
            g = lam_pulseq_line_at (&l, at - t->start[block]);
          }
          g_assert_cmpfloat (g, >=, low[1 + c][i] - 0.2);
          g_assert_cmpfloat (g, <=, high[1 + c][i] + 0.2);
        }
        int32_t row = s->event[LAM_PULSEQ_ADC][block] - 1;
        open = open
               || (row >= 0 && at - t->start[block] >= s->adc[row].delay
                   && at - t->start[block] < lam_pulseq_adc_end (&s->adc[row]));
      }
      g_assert_true (!open || adc[i]);
      if (b - a > 10 * (t->start[5] - t->start[0])) { /* whole repetitions */
        g_assert_cmpfloat (high[0][i], ==, (float) (49.09 * t->rf[0].pulse.peak));
        g_assert_cmpfloat (low[3][i], ==, -750000);
        g_assert_cmpfloat (high[1][i], ==, 300000);
      }
    }
  }
  g_rand_free (rand);
}

/* k-space from any block is that of a walk from the start. */
static void
test_walk (void)
{
  gsize size;
  g_autofree char *text = pulseq_gre (3000, &size);
  g_autoptr (LamPulseq) s = lam_pulseq_parse ("gre.seq", text, size, NULL, NULL);
  g_autoptr (LamPulseqTiming) t = timing (s);
  LamPulseqWalk walk, jump;
  lam_pulseq_walk_init (&walk, t, 0);
  for (int64_t b = 0; b <= s->blocks; b++) {
    lam_pulseq_walk_init (&jump, t, b);
    g_assert_cmpmem (walk.k, sizeof walk.k, jump.k, sizeof jump.k);
    g_assert_cmpint (walk.sample, ==, jump.sample);
    if (b < s->blocks)
      g_assert_true (lam_pulseq_walk_next (&walk, 0, 0, NULL, NULL));
  }
  g_assert_cmpint (walk.sample, ==, t->samples);
}

/* ---- limits ---- */

static const LamBreach *
find_breach (const LamLimitReport *r, LamRule rule)
{
  for (guint i = 0; i < r->breaches->len; i++)
    if (g_array_index (r->breaches, LamBreach, i).rule == rule)
      return &g_array_index (r->breaches, LamBreach, i);
  return NULL;
}

static void
test_p7_oversampled_slew (void)
{
  g_autoptr (GString) text =
      g_string_new (HEAD (5, 0) "[BLOCKS]\n1 100 0 0 0 0 0 0\n2 100 0 0 1 0 0 0\n[GRADIENTS]\n1 ");
  char number[32];
  g_string_append_printf (text, "%s 0 0 1 -1 20\n[SHAPES]\nshape_id 1\nnum_samples 17\n",
                          g_ascii_formatd (number, sizeof number, "%.12g", 9 * 1.75e-3 * LAM_GAMMA_1H));
  for (int i = 1; i <= 17; i++)
    g_string_append_printf (text, "%s\n",
                            g_ascii_formatd (number, sizeof number, "%.12g", (i <= 9 ? i : 18 - i) / 9.0));
  g_autoptr (LamPulseq) s = parse (text->str);
  g_autoptr (LamPulseqTiming) t = timing (s);
  LamLimits limits = lam_limits_default ();
  limits.slew = 100 * LAM_GAMMA_1H;
  g_autoptr (LamLimitReport) r = lam_limits_check (t, &limits, NULL);
  const LamBreach *b = find_breach (r, LAM_RULE_SLEW);
  g_assert_nonnull (b);
  g_assert_cmpfloat_with_epsilon (b->value / LAM_GAMMA_1H, 350, 0.35);
  g_assert_cmpfloat_with_epsilon (r->slew[1] / LAM_GAMMA_1H, 350, 0.35);
  g_assert_cmpfloat (b->limit, ==, limits.slew);
  g_assert_cmpint (b->block, ==, 1);
  g_assert_cmpint (b->axis, ==, 1);
  g_assert_cmpint (b->ps, >=, 1020000000);
  g_assert_cmpint (b->ps, <, 1110000000);
  g_assert_cmpint (r->count[LAM_RULE_SLEW], ==, 1);
  g_assert_cmpuint (r->breaches->len, ==, 1);
}

static void
test_limits (void)
{
  LamLimits limits = {
      .gradient = 1e6, .slew = 1e10, .rf = 500, .rf_dead = 100e-6, .rf_ringdown = 30e-6, .adc_dead = 10e-6};
  g_autoptr (LamPulseq) s = parse (HEAD (
      5,
      0) "[BLOCKS]\n1 40 1 1 0 0 0 0\n2 20 0 2 3 0 1 0\n3 20 0 0 4 0 0 0\n4 20 0 5 0 0 0 0\n5 10 0 0 0 0 0 0\n"
         "[RF]\n1 600 1 2 3 150 50.5 0 0 0 0 e\n"
         "[GRADIENTS]\n2 1000000 0 500000 4 5 0\n3 1000000 0 500000 4 5 50\n4 500000 500000 0 6 5 0\n"
         "[TRAP]\n1 1100000 115 100 120 3\n5 900000 10 20 30 0\n[ADC]\n1 16 10050 5.5 0 0 0 0 0\n"
         "[SHAPES]\nshape_id 1\nnum_samples 2\n1\n1\nshape_id 2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n"
         "330\nshape_id 4\nnum_samples 2\n0\n0.5\nshape_id 5\nnum_samples 2\n0\n20\nshape_id 6\nnum_samples 2\n1\n0\n");
  g_autoptr (LamPulseqTiming) t = timing (s);
  g_autoptr (LamLimitReport) r = lam_limits_check (t, &limits, NULL);
  static const int64_t want[LAM_RULES] = {
      [LAM_RULE_RF_RASTER] = 1, [LAM_RULE_GRADIENT_RASTER] = 1, [LAM_RULE_ADC_RASTER] = 1,
      [LAM_RULE_ADC_DELAY] = 1, [LAM_RULE_BLOCK_END] = 1,       [LAM_RULE_GRADIENT] = 1,
      [LAM_RULE_SLEW] = 1,      [LAM_RULE_GRADIENT_JUMP] = 1,   [LAM_RULE_RF] = 1,
      [LAM_RULE_RF_DEAD] = 1,   [LAM_RULE_RF_RINGDOWN] = 1,     [LAM_RULE_ADC_DEAD] = 1,
  };
  for (int rule = 0; rule < LAM_RULES; rule++) {
    g_test_message ("%s: %d", lam_rule_name (rule), (int) r->count[rule]);
    g_assert_cmpint (r->count[rule], ==, want[rule]);
  }
  /* x leaves block 2 at 500 kHz/m and nothing goes on; y fits. y's gradient of block 2 ends after its block. */
  const LamBreach *jump = find_breach (r, LAM_RULE_GRADIENT_JUMP);
  g_assert_cmpint (jump->block, ==, 2);
  g_assert_cmpint (jump->ps, ==, 600000000);
  g_assert_cmpfloat (jump->value, ==, 500000);
  g_autoptr (LamPulseq) odd =
      parse ("[VERSION]\nmajor 1\nminor 2\nrevision 0\n[BLOCKS]\n1 1 0 0 0 0 0\n[DELAYS]\n1 115\n");
  g_autoptr (LamPulseqTiming) u = timing (odd);
  g_autoptr (LamLimitReport) raster = lam_limits_check (u, &limits, NULL);
  g_assert_cmpint (raster->count[LAM_RULE_BLOCK_RASTER], ==, 1);

  /* Rotated by an eighth of a turn, equal gradients on x and y add up on y, by the square root of 2. */
  limits = (LamLimits){.gradient = 100000, .slew = NAN, .rf = NAN, .rf_dead = NAN, .rf_ringdown = NAN, .adc_dead = NAN};
  g_autoptr (LamPulseq) turned = parse (
      HEAD (5, 1) "[BLOCKS]\n1 20 0 1 1 0 0 1\n2 20 0 1 1 0 0 0\n[TRAP]\n1 90000 10 100 10 0\n[EXTENSIONS]\n1 3 1 0\n"
                  "extension ROTATIONS 3\n1 0.9238795325112867 0 0 0.3826834323650898\n");
  g_autoptr (LamPulseqTiming) v = timing (turned);
  g_autoptr (LamLimitReport) w = lam_limits_check (v, &limits, NULL);
  g_assert_cmpint (w->count[LAM_RULE_GRADIENT], ==, 1);
  g_assert_cmpfloat_with_epsilon (w->gradient[1], 90000 * G_SQRT2, 1e-6);
  g_assert_cmpfloat_with_epsilon (w->slew[1], 9e9 * G_SQRT2, 1);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc test;
  } tests[] = {
      {"/pulseq/p1-shapes-last", test_p1_shapes_last},
      {"/pulseq/p2-block-raster", test_p2_block_raster},
      {"/pulseq/p3-sample-times", test_p3_sample_times},
      {"/pulseq/p4-no-amplitude", test_p4_no_amplitude},
      {"/pulseq/p5-digest-is-text", test_p5_digest_is_text},
      {"/pulseq/p6-stale-signature", test_p6_stale_signature},
      {"/pulseq/p8-compression", test_p8_compression},
      {"/pulseq/p9-versions", test_p9_versions},
      {"/pulseq/p10-empty-sections", test_p10_empty_sections},
      {"/pulseq/p11-ppm", test_p11_ppm},
      {"/pulseq/s5-long", test_s5_long},
      {"/pulseq/locale", test_locale},
      {"/pulseq/numbers", test_numbers},
      {"/pulseq/problems", test_problems},
      {"/pulseq/round-trip", test_round_trip},
      {"/pulseq/down-to-1.4", test_down_to_1_4},
      {"/pulseq/up-from-1.2", test_up_from_1_2},
      {"/pulseq/binary", test_binary},
      {"/pulseq/damage/text", test_damage_text},
      {"/pulseq/damage/words", test_hostile_words},
      {"/pulseq/damage/binary", test_damage_binary},
      {"/pulseq/no-memory", test_no_memory},
      {"/pulseq/cancel", test_cancel},
      {"/pulseq/refocusing", test_refocusing},
      {"/pulseq/rotation", test_rotation},
      {"/pulseq/trace", test_trace},
      {"/pulseq/walk", test_walk},
      {"/pulseq/p7-oversampled-slew", test_p7_oversampled_slew},
      {"/pulseq/limits", test_limits},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);
  int status = g_test_run ();
  test_clean ();
  return status;
}
