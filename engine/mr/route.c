#include "config.h"

#include "mr/route.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "mr/derivative.h"
#include "mr/model.h"
#include "mr/simulate.h"

#define PULSES 100
#define ORDERS 16
#define TRIES 9

static const char *const call_names[LAM_CALLS] = {"values", "jacobian", "gradient"};

static GMutex lock;
static GHashTable *known; /* name of a set: double[LAM_CALLS] */

/* ---- measuring ---- */

static LamModel *
new_train (void)
{
  g_autoptr (LamSequence) s = lam_sequence_new ();
  for (int i = 0; i < PULSES; i++) {
    lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (0.1 + 0.008 * i), lam_number (0), 0);
    lam_sequence_wait (s, lam_number (0.004));
    lam_sequence_adc (s, LAM_ADC_ECHO_CENTER, lam_number (0), 0);
    lam_sequence_wait (s, lam_number (0.006));
    lam_sequence_action (s, LAM_CRUSH_AFTER);
  }
  LamModel *m = lam_model_new_of_sequence (s);
  lam_model_set_orders (m, ORDERS);
  return m;
}

typedef struct {
  LamModel *model;
  LamProgram *program;
  LamTissues *tissues;
  LamDevices *set;
  LamSignal signal;
  LamJacobian jacobian;
  float cotangent[LAM_EPG_WIDTH * PULSES], tissue[LAM_EPG_WIDTH];
} Probe;

static gboolean
call_once (Probe *p, LamCall call, LamRoute route)
{
  static const LamBy by[] = {{.tissue = LAM_T1, .value = -1}};
  LamSimulateOptions options = {.route = route};
  switch (call) {
  case LAM_CALL_VALUES:
    return lam_simulate (p->program, p->tissues, &options, p->set, NULL, &p->signal, NULL);
  case LAM_CALL_JACOBIAN:
    return lam_jacobian (p->program, p->tissues, &options, by, 1, p->set, NULL, &p->jacobian, NULL);
  default:
    return lam_gradient (p->program, p->tissues, &options, by, 1, p->cotangent, NULL, p->set, NULL, p->tissue, NULL,
                         NULL);
  }
}

/* The least of some tries, in seconds; infinite when the call fails. */
static double
seconds_of (Probe *p, LamCall call, LamRoute route)
{
  double least = INFINITY;
  for (int i = 0; i < TRIES; i++) {
    gint64 start = g_get_monotonic_time ();
    if (!call_once (p, call, route))
      return INFINITY;
    least = fmin (least, 1e-6 * (double) MAX (g_get_monotonic_time () - start, 1));
  }
  return least;
}

/* One group of voxels cannot be shared: what the devices take longer for it, they take for any work. With n threads they
 * win from where (1 - 1/n) of the work lasts as long as that. */
static void
measure (LamDevices *set, double *crossover)
{
  int threads = lam_pool_threads (lam_devices_pool (set)), n;
  double t1[LAM_EPG_WIDTH], t2[LAM_EPG_WIDTH];
  Probe p = {.model = new_train (), .set = set};
  LamProgram *const *programs = lam_model_programs (p.model, &n, NULL);
  for (int i = 0; i < LAM_EPG_WIDTH; i++) {
    t1[i] = 800 + 50 * i;
    t2[i] = 60 + 5 * i;
  }
  p.tissues = lam_tissues_new (LAM_EPG_WIDTH);
  lam_tissues_set (p.tissues, "T1", t1, LAM_EPG_WIDTH, NULL);
  lam_tissues_set (p.tissues, "T2", t2, LAM_EPG_WIDTH, NULL);
  p.program = programs ? programs[0] : NULL;
  double work = p.program ? (double) LAM_EPG_WIDTH * lam_program_bound (p.program)->passes : 1;
  for (int c = 0; c < LAM_CALLS; c++) {
    crossover[c] = INFINITY;
    if (threads < 2 || !p.program)
      continue;
    double here = seconds_of (&p, c, LAM_ROUTE_HERE), there = seconds_of (&p, c, LAM_ROUTE_DEVICES);
    if (isfinite (here) && isfinite (there))
      crossover[c] = fmax (there - here, 0) * work / (here * (1 - 1.0 / threads));
  }
  lam_signal_clear (&p.signal);
  lam_jacobian_clear (&p.jacobian);
  lam_tissues_unref (p.tissues);
  lam_model_free (p.model);
}

/* ---- keeping ---- */

/* A home folder may serve several machines. */
static char *
name_of (LamDevices *set)
{
  return g_strdup_printf ("%s, %s, %d threads, %d devices", g_get_host_name (), lam_isa_name (lam_isa ()),
                          lam_pool_threads (lam_devices_pool (set)), lam_devices_count (set));
}

static char *
kept_path (void)
{
  return g_build_filename (g_get_user_cache_dir (), "lamina", "crossover.ini", NULL);
}

static gboolean
read_kept (const char *name, double *crossover)
{
  g_autofree char *path = kept_path (), *version = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    return FALSE;
  version = g_key_file_get_string (file, name, "version", NULL);
  if (g_strcmp0 (version, LAMINA_VERSION) != 0)
    return FALSE;
  for (int c = 0; c < LAM_CALLS; c++) {
    g_autofree char *text = g_key_file_get_string (file, name, call_names[c], NULL);
    char *end = text;
    crossover[c] = text ? g_ascii_strtod (text, &end) : -1;
    if (end == text || isnan (crossover[c]) || crossover[c] < 0)
      return FALSE;
  }
  return TRUE;
}

/* A folder that cannot be written costs the measurement each time, and nothing else. */
static void
keep (const char *name, const double *crossover)
{
  g_autofree char *path = kept_path (), *folder = g_path_get_dirname (path);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL);
  g_key_file_set_string (file, name, "version", LAMINA_VERSION);
  for (int c = 0; c < LAM_CALLS; c++) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_key_file_set_string (file, name, call_names[c], g_ascii_dtostr (text, sizeof text, crossover[c]));
  }
  if (g_mkdir_with_parents (folder, 0700) == 0)
    g_key_file_save_to_file (file, path, NULL);
}

/* ---- the questions ---- */

double
lam_route_crossover (LamDevices *set, LamCall call)
{
  g_autofree char *name = name_of (set);
  g_mutex_lock (&lock);
  if (!known)
    known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  double *crossover = g_hash_table_lookup (known, name);
  if (!crossover) {
    crossover = g_new (double, LAM_CALLS);
    if (!read_kept (name, crossover)) {
      measure (set, crossover);
      keep (name, crossover);
    }
    g_hash_table_insert (known, g_steal_pointer (&name), crossover);
  }
  double found = crossover[call];
  g_mutex_unlock (&lock);
  return found;
}

gboolean
lam_route_is_here (LamDevices *set, LamCall call, LamRoute asked, double work)
{
  if (asked != LAM_ROUTE_AUTO)
    return asked == LAM_ROUTE_HERE;
  return g_str_equal (lam_devices_spec (set), "auto") && work < lam_route_crossover (set, call);
}

void
lam_route_forget (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&known, g_hash_table_unref);
  g_mutex_unlock (&lock);
}
