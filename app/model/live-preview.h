/* live-preview.h: a coarse live slice, for while the hand moves; the exact one (run/live.h) follows when it rests.
 *
 * Parallel beam, where a slice is made of one detector row: the detector's channels are joined until one answer is a few
 * milliseconds of work. Cone beam: the voxels of the slice are. The picture comes in the size of the exact one. Main thread. */
#pragma once

#include "run/live.h"

G_BEGIN_DECLS

#define LAM_TYPE_LIVE_PREVIEW (lam_live_preview_get_type ())
G_DECLARE_FINAL_TYPE (LamLivePreview, lam_live_preview, LAM, LIVE_PREVIEW, GObject)

/* Signal "snapshot" (LamSnapshot *, guint64 serial): the receiver takes a reference.
 * NULL where the exact slice of @dataset as @geometry sees it is fast enough, or no coarse one can be made. */
LamLivePreview *lam_live_preview_new (LamDataset *dataset, const LamGeometry *geometry, int64_t slice);
/* Whether it has an answer to this request: of its slice and beam; in parallel beam no other than another axis, without tilt. */
gboolean lam_live_preview_serves (LamLivePreview *self, const LamLiveRequest *request);
/* As lam_live_request (). */
void lam_live_preview_request (LamLivePreview *self, const LamLiveRequest *request);

G_END_DECLS
