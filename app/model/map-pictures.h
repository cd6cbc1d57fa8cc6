/* map-pictures.h: the maps of a match as pictures: which one is shown, how each is looked at, and the voxel that is marked.
 * Pictures and fits are worked out on other threads. Main thread. */
#pragma once

#include "model/slice-model.h"
#include "model/voxel-fit.h"

G_BEGIN_DECLS

#define LAM_TYPE_MAP_PICTURES (lam_map_pictures_get_type ())
G_DECLARE_FINAL_TYPE (LamMapPictures, lam_map_pictures, LAM, MAP_PICTURES, GObject)

/* Signals: "maps" (there are others, or none), "chosen" (another of them is shown), "fit" (of the marked voxel; it may be
 * gone). */
LamMapPictures *lam_map_pictures_new (void);
LamSliceModel *lam_map_pictures_get_slices (LamMapPictures *self);
/* NULL: none. A look that was changed by hand stays with the map of its name. */
void lam_map_pictures_set_result (LamMapPictures *self, LamMapsResult *result);
LamMapsResult *lam_map_pictures_get_result (LamMapPictures *self);
void lam_map_pictures_choose (LamMapPictures *self, const char *name);
const LamMapsMap *lam_map_pictures_get_chosen (LamMapPictures *self); /* NULL: none */
/* Of the marked voxel; NULL while there is none. */
const LamVoxelFit *lam_map_pictures_get_fit (LamMapPictures *self);
/* Pictures and fit are those of what is asked for; for tests. */
gboolean lam_map_pictures_is_settled (LamMapPictures *self);
/* Ends the threads; before the last reference goes. */
void lam_map_pictures_close (LamMapPictures *self);

G_END_DECLS
