/* voxel-card.h: the marked voxel of a match: its samples with the atoms that fit best, its likeness to all, and its values. */
#pragma once

#include <adwaita.h>

#include "model/map-pictures.h"

G_BEGIN_DECLS

#define LAM_TYPE_VOXEL_CARD (lam_voxel_card_get_type ())
G_DECLARE_FINAL_TYPE (LamVoxelCard, lam_voxel_card, LAM, VOXEL_CARD, GtkBox)

GtkWidget *lam_voxel_card_new (LamMapPictures *pictures);
/* What it says of the voxel. */
const char *lam_voxel_card_get_text (LamVoxelCard *self);

G_END_DECLS
