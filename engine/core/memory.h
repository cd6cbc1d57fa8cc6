/* memory.h: data-sized host memory outside a plan, and the place where running out is injected.
 *
 * Every allocation whose size depends on the data goes through lam_alloc () or a plan (plan.h). Both count, both
 * may fail, and both fail on demand: LAMINA_FAIL_ALLOC=n makes the n-th one return NULL, so that a test can walk
 * through all of them. LAMINA_POISON=1 fills what they return with NaN, so that nothing may rely on fresh zeros. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* @bytes of LAM_ALIGN-aligned memory, or NULL with an error that names @what. Freed with lam_free (). */
void *lam_alloc (int64_t bytes, const char *what, GError **error);
/* As lam_alloc (), for @n elements of @size bytes; the product is checked. */
void *lam_alloc_n (int64_t n, int64_t size, const char *what, GError **error);
void lam_free (void *memory);

/* Poison as LAMINA_POISON asks: fills with NaN or leaves alone. */
void lam_poison (void *memory, int64_t bytes);
gboolean lam_poison_enabled (void);

/* One step of the injected fault: TRUE when this allocation must fail. */
gboolean lam_memory_inject (void);
/* Fail the @n-th allocation from now on (1 = the next); 0 = never. Returns how many were counted since the last call. */
int64_t lam_memory_fail_at (int64_t n);

/* Bytes held through lam_alloc () now, and the most ever. */
int64_t lam_memory_bytes (void);
int64_t lam_memory_peak (void);
/* Let the peak begin again at what is held now. */
void lam_memory_reset_peak (void);

G_END_DECLS
