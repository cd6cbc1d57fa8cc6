#include "core/plan.h"

#include <pthread.h>

#include "core/error.h"
#include "core/memory.h"

struct _LamPlan {
  gatomicrefcount refs;
  LamDevices *set;
  GPtrArray *phases; /* of char * */
  GArray *buffers;   /* of LamPlanBuffer */
  GArray *copies;    /* of LamPlanCopy */
  gboolean too_large;
  int64_t slices, bin;     /* lam_plan_set_limits () */
  const char *parts, *how; /* lam_plan_set_parts (); NULL: a scan's */
  int64_t n_parts;
  pthread_mutex_t lock;
  GHashTable *index;                                           /* "device/name" -> position in buffers + 1 */
  GPtrArray *taken;                                            /* memory by position in buffers, or NULL */
  int64_t now[LAM_MAX_DEVICES + 1], peak[LAM_MAX_DEVICES + 1]; /* [0] is the host */
};

LamPlan *
lam_plan_new (LamDevices *set)
{
  LamPlan *plan = g_new0 (LamPlan, 1);
  g_atomic_ref_count_init (&plan->refs);
  plan->set = lam_devices_ref (set);
  plan->slices = plan->bin = INT64_MAX;
  plan->phases = g_ptr_array_new_with_free_func (g_free);
  plan->buffers = g_array_new (FALSE, TRUE, sizeof (LamPlanBuffer));
  plan->copies = g_array_new (FALSE, TRUE, sizeof (LamPlanCopy));
  plan->index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  plan->taken = g_ptr_array_new ();
  pthread_mutex_init (&plan->lock, NULL);
  return plan;
}

LamPlan *
lam_plan_ref (LamPlan *plan)
{
  g_atomic_ref_count_inc (&plan->refs);
  return plan;
}

void
lam_plan_unref (LamPlan *plan)
{
  if (!plan || !g_atomic_ref_count_dec (&plan->refs))
    return;
  lam_plan_release_all (plan);
  for (guint i = 0; i < plan->buffers->len; i++)
    g_free (g_array_index (plan->buffers, LamPlanBuffer, i).name);
  for (guint i = 0; i < plan->copies->len; i++)
    g_free (g_array_index (plan->copies, LamPlanCopy, i).name);
  g_array_unref (plan->buffers);
  g_array_unref (plan->copies);
  g_ptr_array_unref (plan->phases);
  g_ptr_array_unref (plan->taken);
  g_hash_table_unref (plan->index);
  pthread_mutex_destroy (&plan->lock);
  lam_devices_unref (plan->set);
  g_free (plan);
}

int
lam_plan_add_phase (LamPlan *plan, const char *name)
{
  g_ptr_array_add (plan->phases, g_strdup (name));
  return (int) plan->phases->len - 1;
}

static char *
key (int device, const char *name)
{
  return g_strdup_printf ("%d/%s", device, name);
}

void
lam_plan_add_buffer (LamPlan *plan, int device, const char *name, int64_t bytes, int first, int last)
{
  if (bytes < 0)
    plan->too_large = TRUE;
  LamPlanBuffer b = {g_strdup (name), device, bytes, first, last};
  g_array_append_val (plan->buffers, b);
  g_ptr_array_add (plan->taken, NULL);
  g_hash_table_replace (plan->index, key (device, name), GUINT_TO_POINTER (plan->buffers->len));
}

void
lam_plan_extend (LamPlan *plan, const char *name, int last)
{
  for (guint i = 0; i < plan->buffers->len; i++) {
    LamPlanBuffer *b = &g_array_index (plan->buffers, LamPlanBuffer, i);
    if (g_str_equal (b->name, name))
      b->last = last;
  }
}

void
lam_plan_add_copy (LamPlan *plan, const char *name, int from, int to, int64_t bytes, int phase)
{
  if (bytes == 0 || from == to)
    return;
  LamPlanCopy c = {g_strdup (name), from, to, bytes, phase};
  g_array_append_val (plan->copies, c);
}

int
lam_plan_phases (const LamPlan *plan)
{
  return (int) plan->phases->len;
}

const char *
lam_plan_phase_name (const LamPlan *plan, int phase)
{
  return g_ptr_array_index (plan->phases, phase);
}

const LamPlanBuffer *
lam_plan_buffers (const LamPlan *plan, int *n)
{
  *n = (int) plan->buffers->len;
  return (const LamPlanBuffer *) plan->buffers->data;
}

const LamPlanCopy *
lam_plan_copies (const LamPlan *plan, int *n)
{
  *n = (int) plan->copies->len;
  return (const LamPlanCopy *) plan->copies->data;
}

LamDevices *
lam_plan_devices (const LamPlan *plan)
{
  return plan->set;
}

int64_t
lam_plan_phase_bytes (const LamPlan *plan, int device, int phase)
{
  int64_t sum = 0;
  for (guint i = 0; i < plan->buffers->len; i++) {
    const LamPlanBuffer *b = &g_array_index (plan->buffers, LamPlanBuffer, i);
    if (b->device == device && b->first <= phase && phase <= b->last && __builtin_add_overflow (sum, b->bytes, &sum))
      return -1;
  }
  return sum;
}

int64_t
lam_plan_peak (const LamPlan *plan, int device)
{
  int64_t peak = 0;
  if (plan->too_large)
    return -1;
  for (int p = 0; p < lam_plan_phases (plan); p++) {
    int64_t bytes = lam_plan_phase_bytes (plan, device, p);
    if (bytes < 0)
      return -1;
    peak = LAM_MAX (peak, bytes);
  }
  return peak;
}

int64_t
lam_plan_total (const LamPlan *plan)
{
  int64_t sum = 0;
  for (int d = LAM_HOST; d < lam_devices_count (plan->set); d++) {
    int64_t peak = lam_plan_peak (plan, d);
    if (peak < 0 || __builtin_add_overflow (sum, peak, &sum))
      return -1;
  }
  return sum;
}

int64_t
lam_plan_copied (const LamPlan *plan)
{
  int64_t sum = 0;
  for (guint i = 0; i < plan->copies->len; i++) {
    const LamPlanCopy *c = &g_array_index (plan->copies, LamPlanCopy, i);
    if (c->from >= 0 && c->to >= 0)
      sum += c->bytes;
  }
  return sum;
}

void
lam_plan_set_limits (LamPlan *plan, int64_t slices, int64_t bin)
{
  plan->slices = slices;
  plan->bin = bin;
}

void
lam_plan_set_parts (LamPlan *plan, const char *parts, const char *how, int64_t n)
{
  plan->parts = parts;
  plan->how = how;
  plan->n_parts = n;
}

/* What would fit, of a plan that grows with its parts. */
static void
refuse_parts (const LamPlan *plan, int64_t total, int64_t budget, GError **error)
{
  g_autofree char *need = g_format_size ((guint64) MAX (total, 0)), *have = g_format_size ((guint64) MAX (budget, 0));
  /* A hundredth is left for what does not shrink with them. */
  int64_t most = total > 0 ? (int64_t) (0.99 * (double) plan->n_parts * (double) budget / (double) total) : 0;
  if (total < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 "the plan is too large: its byte counts do not fit in 64 bits; take fewer %s (%s)", plan->parts,
                 plan->how);
  else if (most >= 1 && most < plan->n_parts)
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 "the plan needs %s and %s can be used. Smallest change that fits: about %" G_GINT64_FORMAT
                 " %s instead of %" G_GINT64_FORMAT " (%s)",
                 need, have, most, plan->parts, plan->n_parts, plan->how);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 "the plan needs %s and %s can be used. Fewer %s are not enough: it takes a machine with more memory",
                 need, have, plan->parts);
}

gboolean
lam_plan_fits (const LamPlan *plan, GError **error)
{
  int64_t total = lam_plan_total (plan), budget = 0;
  for (int d = 0; d < lam_devices_count (plan->set); d++)
    budget += lam_devices_get (plan->set, d)->budget;
  if (plan->parts && (total < 0 || total > budget)) {
    refuse_parts (plan, total, budget, error);
    return FALSE;
  }
  if (total < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
                 "the plan is too large: its byte counts do not fit in 64 bits; bin the data or take fewer slices");
    return FALSE;
  }
  if (total <= budget)
    return TRUE;
  g_autofree char *need = g_format_size (total), *have = g_format_size (budget);
  g_autoptr (GString) change = g_string_new (NULL);
  int bin = 2, percent = (int) (100.0 * (double) budget / (double) total);
  while (bin < 64 && total / ((int64_t) bin * bin * bin) > budget)
    bin *= 2;
  if (percent >= 1 && (double) plan->slices * percent >= 100)
    g_string_append_printf (change, "at most %d %% of the slices (--slices)", percent);
  if (total / ((int64_t) bin * bin * bin) <= budget && bin <= plan->bin)
    g_string_append_printf (change, "%s--bin %d", change->len > 0 ? ", or " : "", bin);
  g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
               "the plan needs %s and %s can be used. Smallest change that fits: %s", need, have,
               change->len > 0 ? change->str
                               : "a machine with more memory (neither fewer slices nor binning is enough)");
  return FALSE;
}

static int
find (LamPlan *plan, int device, const char *name)
{
  g_autofree char *k = key (device, name);
  return (int) GPOINTER_TO_UINT (g_hash_table_lookup (plan->index, k)) - 1;
}

void *
lam_plan_take (LamPlan *plan, int device, const char *name, GError **error)
{
  pthread_mutex_lock (&plan->lock);
  int at = find (plan, device, name);
  LamPlanBuffer *b = at >= 0 ? &g_array_index (plan->buffers, LamPlanBuffer, at) : NULL;
  void *memory = NULL;
  if (!b)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "buffer \"%s\" of device %d is not in the plan", name, device);
  else if (g_ptr_array_index (plan->taken, at))
    memory = g_ptr_array_index (plan->taken, at);
  else {
    memory = device == LAM_HOST ? lam_alloc (LAM_MAX (b->bytes, 1), name, error)
                                : lam_device_alloc (lam_devices_get (plan->set, device), b->bytes, name, error);
    if (memory) {
      g_ptr_array_index (plan->taken, at) = memory;
      plan->now[device + 1] += b->bytes;
      plan->peak[device + 1] = LAM_MAX (plan->peak[device + 1], plan->now[device + 1]);
    }
  }
  pthread_mutex_unlock (&plan->lock);
  return memory;
}

static void
release (LamPlan *plan, int at)
{
  LamPlanBuffer *b = &g_array_index (plan->buffers, LamPlanBuffer, at);
  void *memory = g_ptr_array_index (plan->taken, at);
  if (!memory)
    return;
  if (b->device == LAM_HOST)
    lam_free (memory);
  else
    lam_device_free (lam_devices_get (plan->set, b->device), memory, b->bytes);
  g_ptr_array_index (plan->taken, at) = NULL;
  plan->now[b->device + 1] -= b->bytes;
}

void
lam_plan_release (LamPlan *plan, int device, const char *name)
{
  pthread_mutex_lock (&plan->lock);
  int at = find (plan, device, name);
  if (at >= 0)
    release (plan, at);
  pthread_mutex_unlock (&plan->lock);
}

void *
lam_plan_get (LamPlan *plan, int device, const char *name)
{
  pthread_mutex_lock (&plan->lock);
  int at = find (plan, device, name);
  void *memory = at >= 0 ? g_ptr_array_index (plan->taken, at) : NULL;
  pthread_mutex_unlock (&plan->lock);
  return memory;
}

void
lam_plan_release_all (LamPlan *plan)
{
  pthread_mutex_lock (&plan->lock);
  for (guint i = 0; i < plan->buffers->len; i++)
    release (plan, (int) i);
  pthread_mutex_unlock (&plan->lock);
}

void
lam_plan_release_others (LamPlan *plan, const char *name)
{
  pthread_mutex_lock (&plan->lock);
  for (guint i = 0; i < plan->buffers->len; i++)
    if (!g_str_equal (g_array_index (plan->buffers, LamPlanBuffer, i).name, name))
      release (plan, (int) i);
  pthread_mutex_unlock (&plan->lock);
}

int64_t
lam_plan_measured (const LamPlan *plan, int device)
{
  return plan->peak[device + 1];
}
