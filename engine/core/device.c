#include "core/device.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"

/* Of the pool (threadpool.c). */
#define LAM_MAX_THREADS 64

typedef struct {
  void *memory;
  int64_t bytes;
  gboolean closed; /* by the guard */
} Buffer;

struct _LamDevices {
  gatomicrefcount refs;
  int n;
  LamDevice device[LAM_MAX_DEVICES];
  char *spec, *reason;
  LamPool *pool;
  gboolean guard;
  int open_device; /* under the guard: the one whose buffers are open; -1 = all */
  _Atomic int64_t copied;

  pthread_mutex_t lock;             /* all below */
  GArray *buffers[LAM_MAX_DEVICES]; /* of Buffer */
};

static int64_t
memory_budget (void)
{
  int64_t pages = sysconf (_SC_PHYS_PAGES), size = sysconf (_SC_PAGESIZE);
  return pages > 0 && size > 0 ? pages * size / 10 * 9 : INT64_MAX;
}

/* Reads "cpu", "4xcpu", "auto". */
static gboolean
parse_spec (const char *spec, int *n, char **reason, GError **error)
{
  char *end = NULL;
  *n = 1;
  if (g_str_equal (spec, "auto")) {
    *reason = g_strdup ("one CPU device: it uses every processor, and nothing has to be copied");
    return TRUE;
  }
  const char *kind = spec;
  if (g_ascii_isdigit (*spec)) {
    int64_t count = g_ascii_strtoll (spec, &end, 10);
    if (*end != 'x' || count < 1 || count > LAM_MAX_DEVICES) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "devices \"%s\": expected a count from 1 to %d and a kind, such as 4xcpu", spec, LAM_MAX_DEVICES);
      return FALSE;
    }
    *n = (int) count;
    kind = end + 1;
  }
  if (g_str_equal (kind, "cpu")) {
    *reason = g_strdup ("as asked");
    return TRUE;
  }
  if (g_str_has_prefix (kind, "cuda")) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "devices \"%s\": this version has no GPU module; use cpu or a count such as 2xcpu", spec);
    return FALSE;
  }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "devices \"%s\": expected auto, cpu, or a count such as 4xcpu",
               spec);
  return FALSE;
}

LamDevices *
lam_devices_new (const char *spec, GError **error)
{
  int n;
  g_autofree char *reason = NULL;
  const char *guard = g_getenv ("LAMINA_DEVICE_GUARD");
  if (!spec || !*spec)
    spec = g_getenv ("LAMINA_DEVICES");
  if (!spec || !*spec)
    spec = "auto";
  if (!parse_spec (spec, &n, &reason, error))
    return NULL;
  LamDevices *set = g_new0 (LamDevices, 1);
  g_atomic_ref_count_init (&set->refs);
  set->n = n;
  set->spec = g_strdup (spec);
  set->reason = g_steal_pointer (&reason);
  set->pool = lam_pool_shared ();
  set->guard = guard && *guard && *guard != '0';
  set->open_device = -1;
  pthread_mutex_init (&set->lock, NULL);
  for (int i = 0; i < n; i++) {
    LamDevice *d = &set->device[i];
    d->set = set;
    d->index = i;
    d->kind = LAM_DEVICE_CPU;
    d->budget = memory_budget () / n;
    g_snprintf (d->name, sizeof d->name, "CPU %d", i);
    set->buffers[i] = g_array_new (FALSE, FALSE, sizeof (Buffer));
  }
  return set;
}

LamDevices *
lam_devices_ref (LamDevices *set)
{
  g_atomic_ref_count_inc (&set->refs);
  return set;
}

void
lam_devices_unref (LamDevices *set)
{
  if (!set || !g_atomic_ref_count_dec (&set->refs))
    return;
  for (int i = 0; i < set->n; i++)
    g_array_unref (set->buffers[i]);
  pthread_mutex_destroy (&set->lock);
  g_free (set->spec);
  g_free (set->reason);
  g_free (set);
}

int
lam_devices_count (const LamDevices *set)
{
  return set->n;
}

LamDevice *
lam_devices_get (LamDevices *set, int index)
{
  return &set->device[index];
}

char *
lam_threads_problem (void)
{
  const char *text = g_getenv ("LAMINA_THREADS");
  gint64 n;
  if (!text || !*text || (g_ascii_string_to_signed (text, 10, 1, G_MAXINT64, &n, NULL) && n <= LAM_MAX_THREADS))
    return NULL;
  if (g_ascii_string_to_signed (text, 10, 1, G_MAXINT64, &n, NULL))
    return g_strdup_printf ("LAMINA_THREADS=%s: at most %d threads are used", text, LAM_MAX_THREADS);
  return g_strdup_printf ("LAMINA_THREADS=%s: a whole number from 1 to %d was expected; every processor is used", text,
                          LAM_MAX_THREADS);
}

LamPool *
lam_devices_pool (LamDevices *set)
{
  return set->pool;
}

const char *
lam_devices_spec (const LamDevices *set)
{
  return set->spec;
}

const char *
lam_devices_reason (const LamDevices *set)
{
  return set->reason;
}

void
lam_devices_reset_counters (LamDevices *set)
{
  for (int i = 0; i < set->n; i++) {
    LamDevice *d = &set->device[i];
    atomic_store (&d->peak, atomic_load (&d->bytes));
    atomic_store (&d->busy_ns, 0);
    atomic_store (&d->wait_ns, 0);
    atomic_store (&d->copied_in, 0);
    atomic_store (&d->copied_out, 0);
  }
  atomic_store (&set->copied, 0);
}

static void
set_open (Buffer *buffer, gboolean open)
{
  if (buffer->closed == !open)
    return;
  mprotect (buffer->memory, buffer->bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  buffer->closed = !open;
}

/* Opens the buffers of one device and closes all others. They stay so until another device's turn: between steps only
 * lam_copy () may reach them. */
static void
open_only (LamDevices *set, int only)
{
  set->open_device = only;
  for (int i = 0; i < set->n; i++)
    for (guint b = 0; b < set->buffers[i]->len; b++)
      set_open (&g_array_index (set->buffers[i], Buffer, b), i == only);
}

static gboolean
run_in_turn (LamDevices *set, LamDeviceFunc func, void *data, GError **error)
{
  gboolean ok = TRUE;
  for (int i = 0; i < set->n; i++) {
    g_autoptr (GError) local = NULL;
    if (set->guard && set->n > 1)
      open_only (set, i);
    if (!func (&set->device[i], data, &local) && ok) {
      ok = FALSE;
      g_propagate_error (error, g_steal_pointer (&local));
    }
  }
  return ok;
}

/* One step of all devices. */
typedef struct {
  LamDevices *set;
  LamDeviceFunc func;
  void *data;
  gboolean ok[LAM_MAX_DEVICES];
  GError *errors[LAM_MAX_DEVICES];
  int64_t end_ns[LAM_MAX_DEVICES];
} Step;

static void
step_device (int64_t i, int worker, void *data)
{
  Step *step = data;
  step->ok[i] = step->func (&step->set->device[i], step->data, &step->errors[i]);
  step->end_ns[i] = lam_clock_ns ();
}

gboolean
lam_devices_run (LamDevices *set, LamDeviceFunc func, void *data, GError **error)
{
  lam_fp_setup ();
  if (set->n == 1 || set->guard)
    return run_in_turn (set, func, data, error);
  Step step = {.set = set, .func = func, .data = data};
  lam_pool_for_each_owner (set->pool, set->n, step_device, &step);
  gboolean ok = TRUE;
  int64_t now = lam_clock_ns ();
  for (int i = 0; i < set->n; i++) {
    atomic_fetch_add (&set->device[i].wait_ns, now - step.end_ns[i]);
    if (!step.ok[i] && ok) {
      ok = FALSE;
      g_propagate_error (error, g_steal_pointer (&step.errors[i]));
    }
    g_clear_error (&step.errors[i]);
  }
  return ok;
}

void
lam_device_for (LamDevice *device, int64_t n, LamPoolFunc func, void *data)
{
  lam_pool_for (device->set->pool, n, func, data, &device->busy_ns);
}

void *
lam_device_alloc (LamDevice *device, int64_t bytes, const char *what, GError **error)
{
  g_autofree char *size = g_format_size (LAM_MAX (bytes, 0));
  if (bytes < 0 || bytes > (INT64_MAX >> 2)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: the size is too large for this machine", what);
    return NULL;
  }
  int64_t total = lam_round_up (LAM_MAX (bytes, 1), 4096);
  void *memory = lam_memory_inject () ? MAP_FAILED
                                      : mmap (NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: %s could not be had on device %s (it holds %.1f MB now)",
                 what, size, device->name, atomic_load (&device->bytes) / 1e6);
    return NULL;
  }
  if (total >= (1 << 22))
    madvise (memory, total, MADV_HUGEPAGE);
  lam_poison (memory, total);
  int64_t now = atomic_fetch_add (&device->bytes, bytes) + bytes, peak = atomic_load (&device->peak);
  while (now > peak && !atomic_compare_exchange_weak (&device->peak, &peak, now))
    ;
  Buffer buffer = {memory, total, FALSE};
  pthread_mutex_lock (&device->set->lock);
  g_array_append_val (device->set->buffers[device->index], buffer);
  pthread_mutex_unlock (&device->set->lock);
  return memory;
}

void
lam_device_free (LamDevice *device, void *memory, int64_t bytes)
{
  if (!memory)
    return;
  GArray *buffers = device->set->buffers[device->index];
  pthread_mutex_lock (&device->set->lock);
  for (guint b = 0; b < buffers->len; b++)
    if (g_array_index (buffers, Buffer, b).memory == memory) {
      munmap (memory, g_array_index (buffers, Buffer, b).bytes);
      g_array_remove_index_fast (buffers, b);
      break;
    }
  pthread_mutex_unlock (&device->set->lock);
  atomic_fetch_sub (&device->bytes, bytes);
}

static void
open_range (LamDevices *set, int device, const void *memory, gboolean open)
{
  if (device < 0)
    return;
  for (guint b = 0; b < set->buffers[device]->len; b++) {
    Buffer *buffer = &g_array_index (set->buffers[device], Buffer, b);
    if ((const char *) memory >= (char *) buffer->memory
        && (const char *) memory < (char *) buffer->memory + buffer->bytes)
      set_open (buffer, open);
  }
}

/* Whether the guard has closed @device's buffers just now. */
static gboolean
closed (LamDevices *set, int device)
{
  return set->guard && device >= 0 && set->open_device >= 0 && device != set->open_device;
}

void
lam_copy (LamDevices *set, int to, void *dst, int64_t dst_pitch, int from, const void *src, int64_t src_pitch,
          int64_t width, int64_t rows)
{
  if (width <= 0 || rows <= 0)
    return;
  gboolean opened_src = closed (set, from), opened_dst = closed (set, to);
  if (opened_src || opened_dst)
    pthread_mutex_lock (&set->lock); /* one at a time: another thread's copy must not close what this one reads */
  if (opened_src)
    open_range (set, from, src, TRUE);
  if (opened_dst)
    open_range (set, to, dst, TRUE);
  if (dst_pitch == width && src_pitch == width)
    memcpy (dst, src, width * rows);
  else
    for (int64_t r = 0; r < rows; r++)
      memcpy ((char *) dst + r * dst_pitch, (const char *) src + r * src_pitch, width);
  if (opened_src)
    open_range (set, from, src, FALSE);
  if (opened_dst)
    open_range (set, to, dst, FALSE);
  if (opened_src || opened_dst)
    pthread_mutex_unlock (&set->lock);
  if (to == from)
    return;
  int64_t bytes = width * rows;
  if (to >= 0)
    atomic_fetch_add (&set->device[to].copied_in, bytes);
  if (from >= 0)
    atomic_fetch_add (&set->device[from].copied_out, bytes);
  if (to >= 0 && from >= 0)
    atomic_fetch_add (&set->copied, bytes);
}

int64_t
lam_devices_copied (LamDevices *set)
{
  return atomic_load (&set->copied);
}

gboolean
lam_devices_self_test (LamDevices *set, GString *report, GError **error)
{
  enum { N = 1024 };
  for (int a = 0; a < set->n; a++)
    for (int b = 0; b < set->n; b++) {
      if (a == b && set->n > 1)
        continue;
      float *pa = lam_device_alloc (&set->device[a], N * sizeof (float), "self-test", error);
      float *pb = pa ? lam_device_alloc (&set->device[b], N * sizeof (float), "self-test", error) : NULL;
      float out[N], back[N];
      if (!pb) {
        lam_device_free (&set->device[a], pa, N * sizeof (float));
        return FALSE;
      }
      for (int i = 0; i < N; i++)
        out[i] = (float) (1 + i + 7 * a + 13 * b);
      lam_copy (set, a, pa, sizeof out, LAM_HOST, out, sizeof out, sizeof out, 1);
      lam_copy (set, b, pb, sizeof out, a, pa, sizeof out, sizeof out, 1);
      lam_copy (set, LAM_HOST, back, sizeof back, b, pb, sizeof back, sizeof back, 1);
      gboolean same = memcmp (out, back, sizeof out) == 0;
      lam_device_free (&set->device[a], pa, N * sizeof (float));
      lam_device_free (&set->device[b], pb, N * sizeof (float));
      if (report)
        g_string_append_printf (report, "%s -> %s: %s\n", set->device[a].name, set->device[b].name,
                                same ? "right" : "WRONG");
      if (!same) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "copies from %s to %s arrive changed", set->device[a].name,
                     set->device[b].name);
        return FALSE;
      }
    }
  return TRUE;
}
