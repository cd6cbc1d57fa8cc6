/* live-preview.h: a coarse live slice, for while the hand moves; the exact one (run/live.h) follows when it rests.
 *
 * The detector's channels are joined until one answer is a few milliseconds of work; the picture comes in the size of
 * the exact one. Parallel beam only, where a slice is made of one detector row. Main thread. */
#pragma once

#include "run/live.h"

G_BEGIN_DECLS

#define LAM_TYPE_LIVE_PREVIEW (lam_live_preview_get_type ())
G_DECLARE_FINAL_TYPE (LamLivePreview, lam_live_preview, LAM, LIVE_PREVIEW, GObject)

/* Signal "snapshot" (LamSnapshot *, guint64 serial): the receiver takes a reference.
 * NULL where the exact slice is fast enough, or no coarse one can be made. */
LamLivePreview *lam_live_preview_new (LamDataset *dataset, int64_t slice);
int64_t lam_live_preview_get_slice (LamLivePreview *self);
/* As lam_live_request (); the request's slice is this preview's, its tilt 0. */
void lam_live_preview_request (LamLivePreview *self, const LamLiveRequest *request);

G_END_DECLS
