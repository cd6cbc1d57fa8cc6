#include "golden-trains.h"

#include <math.h>
#include <string.h>

#include "mr-util.h"
#include "mr/constants.h"
#include "mr/lineshape.h"

static LamModel *
model_of (const char *template, LamProtocol **p)
{
  const LamTemplate *t = lam_template_find (template);
  g_assert_nonnull (t);
  *p = lam_protocol_new (t);
  return lam_model_new_for (*p);
}

static void
put (LamProtocol *p, const char *name, double value)
{
  g_autoptr (GError) error = NULL;
  lam_protocol_set_value (p, name, value, &error);
  g_assert_no_error (error);
}

static int
states (hid_t group)
{
  return golden_has_attr (group, "states") ? (int) golden_attr_int (group, "states") : 0;
}

/* jacobian_flip: (atoms, flips, samples), for each degree. */
static void
check_flips (hid_t group, const char *kind, const char *name, GoldenTally *tally, LamModel *m, LamTissues *t)
{
  static const char *const names[] = {"flip", NULL};
  g_autoptr (GError) error = NULL;
  LamJacobian j = {0};
  lam_model_jacobian (m, t, NULL, names, mr_devices (), NULL, &j, NULL, &error);
  g_assert_no_error (error);
  double d = mr_distance_of (j.re, j.im, j.signal.voxels * j.n * j.signal.samples, group, "jacobian_flip");
  g_test_message ("%s, by every flip: %.2g", name, d);
  golden_tally_add (tally, kind, name, d, golden_attr_double (group, "tolerance_rel_float32"));
  lam_jacobian_clear (&j);
}

/* cost = sum weight |signal|^2, and its gradient by every flip, in reverse. */
static void
check_gradient (hid_t group, const char *name, GoldenTally *tally, LamModel *m, LamTissues *t)
{
  g_autoptr (GError) error = NULL;
  LamSignal s = {0};
  int n, values;
  lam_model_simulate (m, t, NULL, mr_devices (), NULL, &s, &error);
  g_assert_no_error (error);
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *weight = golden_read_double (group, "weight", shape);
  g_autofree float *re = g_new0 (float, s.voxels *s.samples), *im = g_new0 (float, s.voxels *s.samples);
  double cost = 0;
  for (int64_t i = 0; i < s.voxels * s.samples; i++) {
    double a = s.re ? s.re[i] : 0, b = s.im ? s.im[i] : 0;
    cost += weight[i] * (a * a + b * b);
    re[i] = (float) (2 * weight[i] * a);
    im[i] = (float) (2 * weight[i] * b);
  }
  lam_signal_clear (&s);
  double bound = golden_attr_double (group, "tolerance_rel_float32"), truth = golden_attr_double (group, "cost");
  golden_tally_add (tally, "fse, cost", name, fabs (cost - truth) / fabs (truth), bound);
  LamProgram *const *p = lam_model_programs (m, &n, &error);
  const LamProtocolEntry *e = lam_sequence_entry (lam_program_sequence (p[0]), "flip");
  lam_program_values (p[0], &values);
  g_autofree double *g = g_new (double, values);
  lam_gradient (p[0], t, NULL, NULL, 0, re, im, mr_devices (), NULL, NULL, g, &error);
  g_assert_no_error (error);
  g_autofree double *gradient = golden_read_double (group, "gradient", shape);
  double d = golden_relative_double (g + e->first, gradient, e->n);
  g_test_message ("%s, gradient: %.2g", name, d);
  golden_tally_add (tally, "fse, gradient", name, d, bound);
}

/* ---- mrf ---- */

static void
check_mrf (hid_t group, const char *name, gpointer tally)
{
  LamProtocol *p;
  g_autoptr (LamModel) m = model_of ("MRF", &p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  mr_set (p, "flip", group, "flip_deg");
  mr_set (p, "TR", group, "TR_ms");
  mr_set (p, "TI", group, "TI_ms");
  lam_model_set_orders (m, states (group));
  if (golden_has (group, "signal") || golden_has (group, "signal_re"))
    mr_check (tally, "mrf", name, group, m, t, NULL);
  if (golden_has (group, "jacobian_flip_re"))
    check_flips (group, "mrf, by flips", name, tally, m, t);
}

void
golden_mrf_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "mrf", check_mrf, tally);
}

/* ---- fse ---- */

static void
check_batch (hid_t group, const char *name, GoldenTally *tally, LamModel *m, LamTissues *t)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autoptr (GError) error = NULL;
  g_autofree double *flip = golden_read_double (group, "flip_deg", shape);
  int64_t trains = shape[0], n = shape[1], voxels = lam_tissues_voxels (t);
  g_autofree float *re = g_new0 (float, trains *voxels *n), *im = g_new0 (float, trains *voxels *n);
  for (int64_t i = 0; i < trains; i++) {
    LamSignal s = {0};
    lam_model_set (m, "flip", flip + i * n, (int) n, &error);
    g_assert_no_error (error);
    lam_model_simulate (m, t, NULL, mr_devices (), NULL, &s, &error);
    g_assert_no_error (error);
    if (s.re)
      memcpy (re + i * voxels * n, s.re, voxels * n * sizeof *re);
    if (s.im)
      memcpy (im + i * voxels * n, s.im, voxels * n * sizeof *im);
    lam_signal_clear (&s);
  }
  golden_tally_add (tally, "fse", name, mr_distance_of (re, im, trains * voxels * n, group, "signal"),
                    golden_attr_double (group, "tolerance_rel_float32"));
}

static void
check_fse (hid_t group, const char *name, gpointer tally)
{
  LamProtocol *p;
  gboolean hyper = strcmp (name, "hyperecho") == 0;
  g_autoptr (LamModel) m = model_of (hyper ? "Hyperecho" : "FSE", &p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  mr_set (p, "ESP", group, "ESP_ms");
  mr_set (p, "TR", group, "TR_ms");
  mr_set (p, "exc_flip", group, "exc_flip_deg");
  mr_set (p, "exc_phase", group, "exc_phase_deg");
  mr_set (p, "phases", group, "phase_deg");
  put (p, "playings", golden_has_attr (group, "playings") ? golden_attr_double (group, "playings") : 1);
  lam_model_set_orders (m, states (group));
  if (strcmp (name, "train_batch") == 0) {
    check_batch (group, name, tally, m, t);
    return;
  }
  mr_set (p, "flip", group, "flip_deg");
  mr_check (tally, "fse", name, group, m, t, NULL);
  if (golden_has (group, "jacobian_flip_re"))
    check_flips (group, "fse, by flips", name, tally, m, t);
  if (golden_has (group, "gradient"))
    check_gradient (group, name, tally, m, t);
}

void
golden_fse_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "fse", check_fse, tally);
}

/* ---- ssfp ---- */

/* A FISP repetition: pulse, sample at once, one winding; played until it has settled. */
static void
check_settled (hid_t group, const char *name, GoldenTally *tally)
{
  g_autoptr (LamSequence) s = lam_sequence_new ();
  lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (golden_attr_double (group, "flip_deg") * LAM_DEGREE),
                   lam_number (0), 0);
  lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0), LAM_SHIFT_AFTER);
  lam_sequence_wait (s, lam_number (golden_attr_double (group, "TR_ms") * 1e-3));
  lam_sequence_set_playings (s, 0);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  lam_model_set_orders (m, 300);
  mr_check (tally, "ssfp", name, group, m, t, NULL);
}

static void
check_ssfp (hid_t group, const char *name, gpointer tally)
{
  static const struct {
    const char *prefix, *template;
  } kinds[] = {{"cest", "CEST"},
               {"flash", "FLASH"},
               {"fmssfp", "fmSSFP"},
               {"settled_balanced", "TrueFISP"},
               {"stimulated", "StimulatedEcho"},
               {"truefisp", "TrueFISP"}};
  static const char *const fields[][2] = {{"flip", "flip_deg"},
                                          {"TR", "TR_ms"},
                                          {"TE", "TE_ms"},
                                          {"TM", "TM_ms"},
                                          {"nshots", "nshots"},
                                          {"pulse_duration", "pulse_ms"},
                                          {"bandwidth_time", "bandwidth_time"},
                                          {"dwell", "dwell_ms"},
                                          {"rf_increment", "rf_increment_deg"},
                                          {"offsets", "offsets_ppm"},
                                          {"field", "field_T"},
                                          {"B1sat", "B1sat_uT"},
                                          {"npulses", "npulses"},
                                          {"interpulse_delay", "gap_ms"},
                                          {"recovery", "recovery_ms"}};
  if (g_str_has_prefix (name, "settled_unbalanced")) {
    check_settled (group, name, tally);
    return;
  }
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    if (!g_str_has_prefix (name, kinds[k].prefix))
      continue;
    LamProtocol *p;
    g_autoptr (LamModel) m = model_of (kinds[k].template, &p);
    g_autoptr (LamTissues) t = mr_tissues (group);
    for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
      if (lam_template_field (lam_protocol_template (p), fields[i][0]))
        mr_set (p, fields[i][0], group, fields[i][1]);
    if (golden_has_attr (group, "rf_increment_deg"))
      put (p, "spoiling", 1);
    if (strstr (name, "adiabatic"))
      put (p, "inversion", 2);
    if (g_str_has_prefix (name, "settled")) {
      put (p, "playings", 0);
      put (p, "nshots", 1);
      put (p, "phase_increment", 0);
      put (p, "half_alpha", 0);
    }
    lam_model_set_orders (m, states (group));
    mr_check (tally, "ssfp", name, group, m, t, NULL);
    return;
  }
  g_error ("ssfp/%s: no template plays this", name);
}

void
golden_ssfp_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "ssfp", check_ssfp, tally);
}

/* ---- mprage, mpnrage ---- */

void
golden_mprage_add (hid_t file, GoldenTally *tally)
{
  static const char *const names[][2] = {{"mprage", "MPRAGE"}, {"mpnrage", "MPnRAGE"}};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!golden_has (file, names[i][0]))
      continue;
    hid_t group = golden_open_group (file, names[i][0]);
    LamProtocol *p;
    g_autoptr (LamModel) m = model_of (names[i][1], &p);
    g_autoptr (LamTissues) t = mr_tissues (group);
    mr_set (p, "TI", group, "TI_ms");
    mr_set (p, i == 0 ? "TRspgr" : "TR", group, "TR_ms");
    mr_set (p, "flip", group, "flip_deg");
    mr_set (p, "nshots", group, "nshots");
    mr_check (tally, names[i][0], names[i][0], group, m, t, NULL);
    H5Gclose (group);
  }
}

/* ---- physics: events as they are ---- */

static LamSequence *
events_of (hid_t group, gboolean ideal)
{
  int64_t shape[GOLDEN_MAX_RANK], n;
  g_autofree double *time = golden_read_double (group, "event_time_s", shape);
  g_autofree double *flip = golden_read_double (group, "event_flip_rad", shape);
  g_autofree double *phase = golden_read_double (group, "event_phase_rad", shape);
  g_autofree int32_t *kind = golden_read_int32 (group, "event_kind", shape);
  g_autofree int32_t *action = golden_read_int32 (group, "event_action", shape);
  g_autofree int32_t *recorded = golden_read_int32 (group, "event_recorded", shape);
  g_autofree double *frequency =
      golden_has (group, "event_frequency_hz") ? golden_read_double (group, "event_frequency_hz", shape) : NULL;
  n = golden_count (shape);
  LamSequence *s = lam_sequence_new ();
  int definition = 0;
  if (!ideal) {
    /* A definition with the saturation that the group states: -pi / length for a rectangle. */
    const char *name = "saturation_per_flip2";
    g_autofree double *given = golden_has (group, name) ? golden_read_double (group, name, NULL) : NULL;
    double saturation = given                           ? given[0]
                        : golden_has_attr (group, name) ? golden_attr_double (group, name)
                                                        : -LAM_PI / 1e-3;
    double ones[101];
    for (int i = 0; i < 101; i++)
      ones[i] = 1;
    g_autoptr (LamRf) rf = lam_rf_from_waveform (101, ones, NULL, LAM_PI / -saturation / 100, 0, NULL);
    g_assert_cmpfloat_with_epsilon (rf->saturation, saturation, 1e-6 * fabs (saturation));
    definition = lam_sequence_add_definition (s, rf);
  }
  double now = 0;
  for (int64_t i = 0; i < n; i++) {
    lam_sequence_wait (s, lam_number (time[i] - now));
    now = time[i];
    LamNumber f = lam_number (flip[i]), p = lam_number (phase[i]);
    switch (kind[i]) {
    case 0:
      lam_sequence_action (s, (unsigned) action[i]);
      break;
    case 1: {
      LamEvent *e = lam_sequence_rf (s, LAM_RF_EXCITATION, f, p, (unsigned) action[i]);
      e->definition = definition;
      e->frequency_hz = frequency ? frequency[i] : 0;
      break;
    }
    case 2:
      lam_sequence_adc (s, recorded[i] ? LAM_ADC_SINGLE : LAM_ADC_NON_ACQUIRED, p, (unsigned) action[i]);
      break;
    default:
      lam_sequence_rf (s, LAM_RF_INVERSION, f, p, (unsigned) action[i]);
    }
  }
  if (golden_has_attr (group, "crusher_rad"))
    lam_sequence_set_crusher (s, golden_attr_double (group, "crusher_rad"), golden_attr_double (group, "voxel_m"));
  return s;
}

static void
check_physics (hid_t group, const char *name, gpointer tally)
{
  if (strcmp (name, "lineshape") == 0)
    return; /* with the pulses */
  gboolean ideal = !golden_has_attr (group, "saturation_per_flip2") && !golden_has (group, "saturation_per_flip2")
                   && !strstr (name, "rect");
  g_autoptr (LamSequence) s = events_of (group, ideal);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  lam_model_set_orders (m, states (group));
  mr_check (tally, "physics", name, group, m, t, NULL);
}

void
golden_physics_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "physics", check_physics, tally);
}

/* ---- pulse ---- */

/* An echo train whose refocusing pulse j has shim @shims ? j mod shims : none, and definition @definition. */
static LamSequence *
pulse_train (hid_t group, const LamRf *rf, int *definition, int shims)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *flip = golden_read_double (group, "flip_deg", shape);
  int n = (int) golden_count (shape);
  LamSequence *s = lam_sequence_new ();
  *definition = rf ? lam_sequence_add_definition (s, (LamRf *) rf) : 0;
  LamNumber half = lam_number (golden_attr_double (group, "ESP_ms") * 0.5e-3);
  LamEvent *e =
      lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (golden_attr_double (group, "exc_flip_deg") * LAM_DEGREE),
                       lam_number (golden_attr_double (group, "exc_phase_deg") * LAM_DEGREE), 0);
  e->definition = *definition;
  if (shims)
    e->shim = 0;
  for (int j = 0; j < n; j++) {
    lam_sequence_wait (s, half);
    e = lam_sequence_rf (s, LAM_RF_REFOCUSING, lam_number (flip[j] * LAM_DEGREE), lam_number (0),
                         LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER);
    e->definition = *definition;
    if (shims)
      e->shim = (j + 1) % shims;
    lam_sequence_wait (s, half);
    lam_sequence_adc (s, LAM_ADC_ECHO_CENTER, lam_number (0), 0);
  }
  return s;
}

static void
add_channels (LamTissues *t, hid_t group)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autoptr (GError) error = NULL;
  g_autofree double *b1 = golden_read_double (group, "B1_channel", shape);
  g_autofree double *phase = golden_read_double (group, "B1phase_channel_rad", shape);
  lam_tissues_set_channels (t, (int) shape[0], b1, phase, &error);
  g_assert_no_error (error);
}

static void
check_shim (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *magnitude = golden_read_double (group, "shim_magnitude", shape);
  g_autofree double *phase = golden_read_double (group, "shim_phase_rad", shape);
  int definition, shims = (int) shape[0], channels = (int) shape[1];
  g_autoptr (LamSequence) s = pulse_train (group, NULL, &definition, shims);
  for (int i = 0; i < shims; i++)
    lam_sequence_add_shim (s, channels, magnitude + i * channels, phase + i * channels);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  add_channels (t, group);
  lam_model_set_orders (m, states (group));
  mr_check (tally, "pulse", name, group, m, t, NULL);
}

static void
check_profile (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *re = golden_read_double (group, "envelope_re", shape),
                    *im = golden_read_double (group, "envelope_im", shape);
  g_autoptr (GError) error = NULL;
  int64_t samples = golden_count (shape);
  g_autofree double *p_shape = golden_read_double (group, "position", shape);
  int positions = (int) golden_count (shape), definition;
  g_autoptr (LamRf) rf = lam_rf_from_waveform (samples, re, im, golden_attr_double (group, "dwell_s"),
                                               golden_attr_double (group, "bandwidth_hz"), &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (lam_rf_phase (rf), golden_attr_double (group, "integral_phase_rad"), 1e-7);
  g_autoptr (LamSequence) s = pulse_train (group, rf, &definition, 0);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  lam_model_set_orders (m, states (group));
  LamSimulateOptions o = {.positions = positions, .extent = p_shape[positions - 1] - p_shape[0]};
  mr_check (tally, "pulse", name, group, m, t, &o);
}

static void
check_dynamic (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *magnitude = golden_read_double (group, "channel_magnitude", shape);
  g_autofree double *turns = golden_read_double (group, "channel_phase_turns", shape);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamRf) rf = lam_rf_new ((int) shape[0], shape[1], magnitude, turns, NULL,
                                     golden_attr_double (group, "raster_s"), 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (lam_rf_phase (rf), golden_attr_double (group, "integral_phase_rad"), 1e-7);
  g_autofree double *flip = golden_read_double (group, "flip_deg", shape);
  double te = golden_attr_double (group, "TE_ms") * 1e-3, tr = golden_attr_double (group, "TR_ms") * 1e-3;
  g_autoptr (LamSequence) s = lam_sequence_new ();
  int definition = lam_sequence_add_definition (s, rf);
  for (int j = 0; j < (int) golden_count (shape); j++) {
    lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (flip[j] * LAM_DEGREE), lam_number (0.4 * j), 0)->definition =
        definition;
    lam_sequence_wait (s, lam_number (te));
    lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0.4 * j), LAM_SHIFT_AFTER);
    lam_sequence_wait (s, lam_number (tr - te));
  }
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  add_channels (t, group);
  lam_model_set_orders (m, states (group));
  mr_check (tally, "pulse", name, group, m, t, NULL);
}

static void
check_sampled (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *re = golden_read_double (group, "waveform_rad_per_s_re", shape);
  g_autofree double *im = golden_read_double (group, "waveform_rad_per_s_im", shape);
  double phases[8], samples[8], starts[8], dwell = golden_attr_double (group, "dwell_s"), now = 0;
  int64_t n = golden_attr_doubles (group, "phases_rad", phases, 8), length = golden_count (shape);
  golden_attr_doubles (group, "sample_times_s", samples, 8);
  golden_attr_doubles (group, "starts_s", starts, 8);
  g_autoptr (LamSequence) s = lam_sequence_new ();
  for (int64_t i = 0; i < n; i++) {
    lam_sequence_wait (s, lam_number (starts[i] - now));
    lam_sequence_sampled_pulse (s, length, re, im, dwell, lam_number (phases[i]),
                                golden_attr_double (group, "offset_hz"));
    now = starts[i] + length * dwell;
    lam_sequence_wait (s, lam_number (samples[i] - now));
    lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0), LAM_SHIFT_AFTER);
    now = samples[i];
  }
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = mr_tissues (group);
  lam_model_set_orders (m, states (group));
  mr_check (tally, "pulse", name, group, m, t, NULL);
}

static void
check_rotations (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *re = golden_read_double (group, "drive_rad_re", shape),
                    *im = golden_read_double (group, "drive_rad_im", shape),
                    *turn = golden_read_double (group, "turn_z_rad", shape);
  int64_t n = shape[0], voxels = shape[1];
  g_autofree double *a_re = golden_read_double (group, "a_re", shape),
                    *a_im = golden_read_double (group, "a_im", shape),
                    *b_re = golden_read_double (group, "b_re", shape),
                    *b_im = golden_read_double (group, "b_im", shape);
  g_autofree double *x = g_new (double, 3 * n);
  double worst = 0;
  for (int64_t v = 0; v < voxels; v++) {
    for (int64_t i = 0; i < n; i++) {
      x[i] = re[i * voxels + v];
      x[n + i] = im[i * voxels + v];
      x[2 * n + i] = turn[i * voxels + v];
    }
    LamSpinor p = lam_spinor_of_samples (n, x, x + n, x + 2 * n);
    worst = fmax (worst, fmax (hypot (p.a_re - a_re[v], p.a_im - a_im[v]), hypot (p.b_re - b_re[v], p.b_im - b_im[v])));
  }
  golden_tally_add (tally, "pulse, rotations", name, worst, golden_attr_double (group, "tolerance_rel_float32"));
}

static void
check_pulse (hid_t group, const char *name, gpointer tally)
{
  if (golden_has (group, "drive_rad_re"))
    check_rotations (group, name, tally);
  else if (golden_has (group, "channel_magnitude"))
    check_dynamic (group, name, tally);
  else if (golden_has (group, "envelope_re"))
    check_profile (group, name, tally);
  else if (golden_has (group, "shim_magnitude"))
    check_shim (group, name, tally);
  else
    check_sampled (group, name, tally);
}

static void
check_lineshape (hid_t group, const char *name, gpointer tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  if (strcmp (name, "lineshape") != 0)
    return;
  g_autofree double *offset = golden_read_double (group, "offset_hz", shape),
                    *truth = golden_read_double (group, "G_s", shape);
  int64_t n = golden_count (shape);
  g_autofree double *g = g_new (double, n);
  double worst = 0, most = 0;
  for (int64_t i = 0; i < n; i++) {
    g[i] = lam_lineshape (offset[i], NULL);
    worst = fmax (worst, fabs (g[i] - truth[i]));
    most = fmax (most, truth[i]);
  }
  golden_tally_add (tally, "lineshape", name, worst / most, golden_attr_double (group, "tolerance_rel_float32"));
}

void
golden_pulse_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "pulse", check_pulse, tally);
  golden_each_group (file, "physics", check_lineshape, tally);
}
