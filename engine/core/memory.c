#include "core/memory.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"

#define HUGE_PAGE (1 << 21)

/* In front of every block: its size, padded so that the block keeps its alignment. */
typedef struct {
  int64_t bytes;
  char pad[LAM_ALIGN - sizeof (int64_t)];
} Header;

static _Atomic int64_t bytes_now, bytes_peak;
static _Atomic int64_t fail_at, counted;
static _Atomic int settings; /* bit 0: read, bit 1: poison */

static void
read_settings (void)
{
  int expected = 0;
  if (atomic_load (&settings))
    return;
  const char *poison = g_getenv ("LAMINA_POISON");
  const char *fail = g_getenv ("LAMINA_FAIL_ALLOC");
  if (atomic_compare_exchange_strong (&settings, &expected, 1 | (poison && *poison && *poison != '0' ? 2 : 0)) && fail)
    atomic_store (&fail_at, g_ascii_strtoll (fail, NULL, 10));
}

gboolean
lam_poison_enabled (void)
{
  read_settings ();
  return (atomic_load (&settings) & 2) != 0;
}

void
lam_poison (void *memory, int64_t bytes)
{
  if (memory && lam_poison_enabled ())
    memset (memory, 0xff, bytes); /* every float and double of it is a NaN */
}

gboolean
lam_memory_inject (void)
{
  read_settings ();
  int64_t n = atomic_fetch_add (&counted, 1) + 1;
  return n == atomic_load (&fail_at);
}

int64_t
lam_memory_fail_at (int64_t n)
{
  read_settings ();
  atomic_store (&fail_at, n);
  return atomic_exchange (&counted, 0);
}

void *
lam_alloc (int64_t bytes, const char *what, GError **error)
{
  Header *h = NULL;
  if (bytes < 0 || bytes > PTRDIFF_MAX - (int64_t) sizeof (Header) - LAM_ALIGN) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: the size is too large for this machine", what);
    return NULL;
  }
  int64_t total = lam_round_up (bytes, LAM_ALIGN) + (int64_t) sizeof (Header);
  gboolean huge = bytes >= 2 * HUGE_PAGE; /* then it begins with one, or none could be used */
  if (lam_memory_inject () || posix_memalign ((void **) &h, huge ? HUGE_PAGE : LAM_ALIGN, total) != 0) {
    g_autofree char *size = g_format_size (bytes);
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: %s of memory could not be had", what, size);
    return NULL;
  }
  h->bytes = bytes;
  if (huge)
    madvise (h, total, MADV_HUGEPAGE);
  int64_t now = atomic_fetch_add (&bytes_now, bytes) + bytes, peak = atomic_load (&bytes_peak);
  while (now > peak && !atomic_compare_exchange_weak (&bytes_peak, &peak, now))
    ;
  lam_poison (h + 1, bytes);
  return h + 1;
}

void *
lam_alloc_n (int64_t n, int64_t size, const char *what, GError **error)
{
  return lam_alloc (lam_mul_size (n, size), what, error);
}

void
lam_free (void *memory)
{
  if (!memory)
    return;
  Header *h = (Header *) memory - 1;
  atomic_fetch_sub (&bytes_now, h->bytes);
  free (h);
}

int64_t
lam_memory_bytes (void)
{
  return atomic_load (&bytes_now);
}

int64_t
lam_memory_peak (void)
{
  return atomic_load (&bytes_peak);
}

void
lam_memory_reset_peak (void)
{
  atomic_store (&bytes_peak, atomic_load (&bytes_now));
}
