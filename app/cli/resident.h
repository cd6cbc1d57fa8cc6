/* resident.h: a projector with its arrays on the devices, for `project` and `bench`. */
#pragma once

#include "ct/direct.h"

G_BEGIN_DECLS

typedef struct {
  LamDevices *set;
  LamProjector *projector;
  LamPlan *plan;
  LamShards volume, sino;
} LamResident;

/* @g has its volume. With @direct also what filtering needs. */
LamResident *lam_resident_new (const LamGeometry *g, const char *devices, gboolean direct, GError **error);
void lam_resident_free (LamResident *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamResident, lam_resident_free)

/* Sinogram [view][row][channel] of @volume [row][column][slice], lam_free (). */
float *lam_resident_project (LamResident *r, const float *volume, GError **error);

G_END_DECLS
