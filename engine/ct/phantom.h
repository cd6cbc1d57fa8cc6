/* phantom.h: test objects of any size, and noise on their sinograms.
 *
 * Shepp-Logan, reference Shepp-Logan and cube follow spec/ct.md section 11; discs and tooth are our own. A voxel is a
 * function of its index and the three sizes alone, so any range of slices may be filled by anyone. An axis of one
 * sample shows the middle of the object. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PHANTOM_SHEPP_LOGAN,           /* low dynamic range */
  LAM_PHANTOM_SHEPP_LOGAN_REFERENCE, /* Kak and Slaney, p. 102 */
  LAM_PHANTOM_CUBE,                  /* moves sideways from slice to slice */
  LAM_PHANTOM_DISCS,                 /* a cylinder with two rings of inserts: contrast and detail */
  LAM_PHANTOM_TOOTH,                 /* enamel, dentine, pulp with canals, a crack */
  LAM_PHANTOM_COUNT
} LamPhantomKind;

/* "shepp-logan", "shepp-logan-reference", "cube", "discs", "tooth". */
const char *lam_phantom_name (LamPhantomKind kind);
gboolean lam_phantom_from_name (const char *name, LamPhantomKind *kind, GError **error);

/* Fills @volume, C order (row, column, slice of @wanted), with the phantom of rows x columns x slices. */
gboolean lam_phantom_fill (LamPhantomKind kind, int64_t rows, int64_t columns, int64_t slices, LamRange wanted,
                           float *volume, GError **error);

/* The factor that makes the largest line integral about @attenuation at a voxel pitch of 1 (Shepp-Logan: spec). */
double lam_phantom_scale (LamPhantomKind kind, int64_t rows, int64_t columns, int64_t slices, double attenuation);

/* Noise on @n samples of -log transmission, the first of which is sample @first of the whole sinogram: what a sample
 * gets depends on (@seed, its place) alone. @photons: counts in air, Poisson; @electronic: standard deviation in
 * counts. Counts below half a photon are taken as half a photon. */
void lam_noise_transmission (float *sinogram, int64_t first, int64_t n, double photons, double electronic,
                             uint64_t seed);
/* Adds normal noise of standard deviation @sigma. */
void lam_noise_gaussian (float *samples, int64_t first, int64_t n, double sigma, uint64_t seed);

G_END_DECLS
