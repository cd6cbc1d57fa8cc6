/* device.h: devices, their memory, and the only way between them.
 *
 * A CPU device is virtual: N of them share the machine's one pool of threads, each with its own buffers. What one
 * device needs of another goes through lam_copy (), which counts. Under LAMINA_DEVICE_GUARD=1 devices run one at a
 * time with all others' buffers unreadable, so that a read that forgot to copy is a fault and not a lucky number.
 *
 * A solver is one program for all devices: lam_devices_run () calls a function once for each device and returns
 * when all have ended; between two such calls everything may be exchanged. A CPU device has no thread of its own: the pool's
 * threads each drive one while there are devices left, then help with the last (threadpool.h), so that many devices
 * cost no more than one. The functions may run one after the other: none may wait for another's. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

#include "core/threadpool.h"
#include "core/types.h"

G_BEGIN_DECLS

#define LAM_MAX_DEVICES 64
#define LAM_HOST (-1)

typedef enum {
  LAM_DEVICE_CPU,
  LAM_DEVICE_CUDA, /* served by the GPU module, which this version does not have yet */
  LAM_DEVICE_CUDA_HOST,
} LamDeviceKind;

typedef struct _LamDevices LamDevices;

typedef struct {
  LamDevices *set;
  int index;
  LamDeviceKind kind;
  char name[32];
  int64_t budget;                        /* bytes it may hold */
  _Atomic int64_t bytes;                 /* held now */
  _Atomic int64_t peak;                  /* most ever held since the last reset */
  _Atomic int64_t busy_ns;               /* time that threads worked for it */
  _Atomic int64_t wait_ns;               /* time between its own end of a step and the last device's */
  _Atomic int64_t copied_in, copied_out; /* bytes from and to other devices or the host */
} LamDevice;

/* @spec: "auto" (NULL the same), "cpu", "4xcpu" (a count). Other kinds are refused in words. */
LamDevices *lam_devices_new (const char *spec, GError **error);
LamDevices *lam_devices_ref (LamDevices *set);
void lam_devices_unref (LamDevices *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamDevices, lam_devices_unref)

int lam_devices_count (const LamDevices *set);
LamDevice *lam_devices_get (LamDevices *set, int index);
/* What is wrong with LAMINA_THREADS, which is then not followed, in words; NULL: nothing. g_free (). */
char *lam_threads_problem (void);
LamPool *lam_devices_pool (LamDevices *set);
/* "4xcpu" as given or chosen, and why ("one CPU device: nothing is copied"). */
const char *lam_devices_spec (const LamDevices *set);
const char *lam_devices_reason (const LamDevices *set);
void lam_devices_reset_counters (LamDevices *set);
/* Copies a pattern between every ordered pair and reads it back. Pairs that fail are said and go through the host. */
gboolean lam_devices_self_test (LamDevices *set, GString *report, GError **error);

/* FALSE and @error stop the step; the first device's error wins. */
typedef gboolean (*LamDeviceFunc) (LamDevice *device, void *data, GError **error);
gboolean lam_devices_run (LamDevices *set, LamDeviceFunc func, void *data, GError **error);
/* Indices 0 … n-1 on the pool, counted as @device's time. */
void lam_device_for (LamDevice *device, int64_t n, LamPoolFunc func, void *data);

/* Memory on a device; fresh memory is NaN under LAMINA_POISON=1, else zero. Use a plan (plan.h), which calls these. */
void *lam_device_alloc (LamDevice *device, int64_t bytes, const char *what, GError **error);
void lam_device_free (LamDevice *device, void *memory, int64_t bytes);

/* @rows rows of @width bytes from device @from to device @to (LAM_HOST for host memory). Counted on both sides unless
 * @from == @to. Only from inside a device's function (then @to or @from is that device) or between two runs. */
void lam_copy (LamDevices *set, int to, void *dst, int64_t dst_pitch, int from, const void *src, int64_t src_pitch,
               int64_t width, int64_t rows);
/* Bytes copied between devices (host not counted) since the last reset. */
int64_t lam_devices_copied (LamDevices *set);

G_END_DECLS
