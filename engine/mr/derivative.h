/* derivative.h: Jacobians and gradients of a sequence's samples, by tissue quantities and by protocol values, each for one
 * public unit (ms, deg, Hz ...). Forward mode for the Jacobian, reverse mode for the gradient of a scalar. The same devices,
 * chunks and bits as lam_simulate (). */
#pragma once

#include <glib.h>

#include "mr/simulate.h"

G_BEGIN_DECLS

/* A quantity to derive by. */
typedef struct {
  int tissue; /* LamTissueQuantity, or -1 */
  int value;  /* index of a protocol value, or -1 */
} LamBy;

/* "T1", "flip" (all its values), "flip[3]"; appended to @by (of LamBy). */
gboolean lam_by_parse (const LamSequence *s, const char *name, GArray *by, GError **error);
/* "T1", "flip[3]", "TR"; g_free (). */
char *lam_by_name (const LamSequence *s, LamBy by);

typedef struct {
  LamSignal signal; /* exactly as lam_simulate () gives it */
  int n;
  float *re, *im; /* [voxels][n][samples]; lam_free (); NULL: all 0 */
} LamJacobian;

gboolean lam_jacobian (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                       const LamBy *by, int n, LamDevices *devices, LamControl *control, LamJacobian *jacobian,
                       GError **error);
void lam_jacobian_clear (LamJacobian *j);

/* For L = sum over voxels and samples of Re (conj g s): @cot_re, @cot_im are g, [voxels][samples]. @tissue (may be NULL) is
 * dL by each of @by, [voxels][n] (values of the protocol are left out there: 0); @values (may be NULL) is dL by every protocol
 * value of the sequence, summed over the voxels in blocks of LAM_EPG_WIDTH that fold in one tree. */
gboolean lam_gradient (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                       const LamBy *by, int n, const float *cot_re, const float *cot_im, LamDevices *devices,
                       LamControl *control, float *tissue, double *values, GError **error);

G_END_DECLS
