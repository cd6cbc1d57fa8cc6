/* pulseq-look.h: which part of a sequence is looked at, and what there is to draw of it. Extremes come at once where the file
 * allows it, else from another thread; echoes and what lies between them always do. Main thread. */
#pragma once

#include "model/pulseq-model.h"
#include "mr/pulseq-window.h"

G_BEGIN_DECLS

#define LAM_TYPE_PULSEQ_LOOK (lam_pulseq_look_get_type ())
G_DECLARE_FINAL_TYPE (LamPulseqLook, lam_pulseq_look, LAM, PULSEQ_LOOK, GObject)

/* Shows all of each new file. Signals: "range-changed": another time is looked at; "changed": there is more to draw. */
LamPulseqLook *lam_pulseq_look_new (LamPulseqModel *model);
LamPulseqModel *lam_pulseq_look_get_model (LamPulseqLook *self);

/* ps; the file's whole when nothing else was chosen. At least 10 ns wide, and inside the sequence. */
void lam_pulseq_look_get_range (LamPulseqLook *self, int64_t *t0, int64_t *t1);
void lam_pulseq_look_set_range (LamPulseqLook *self, int64_t t0, int64_t t1);
/* @factor above 1 shows less; what is at @ps stays where it is. */
void lam_pulseq_look_zoom (LamPulseqLook *self, double factor, int64_t ps);
/* By a part of what is seen; above 0: later. */
void lam_pulseq_look_pan (LamPulseqLook *self, double part);
void lam_pulseq_look_whole (LamPulseqLook *self);
/* @ps comes into the middle, with a few milliseconds round it if it was seen from afar. */
void lam_pulseq_look_go_to (LamPulseqLook *self, int64_t ps);
/* Columns of pixels that the drawing has. */
void lam_pulseq_look_set_columns (LamPulseqLook *self, int columns);

/* Perhaps of a former range, until "changed"; NULL: none yet. */
const LamPulseqWindow *lam_pulseq_look_get_window (LamPulseqLook *self);
/* Of LamPulseqInstant, in the present range; NULL: not yet, or too many. */
const GArray *lam_pulseq_look_get_instants (LamPulseqLook *self);
/* What plays at @ps, for the status line. g_free (). */
char *lam_pulseq_look_describe (LamPulseqLook *self, int64_t ps);
/* The pulse centre, echo or block edge that is nearest to @ps, if one is within @reach; else @ps. */
int64_t lam_pulseq_look_snap (LamPulseqLook *self, int64_t ps, int64_t reach);
/* What there is to draw is of the present range. */
gboolean lam_pulseq_look_is_settled (LamPulseqLook *self);

/* Ends what goes on; before the last reference goes. */
void lam_pulseq_look_close (LamPulseqLook *self);

G_END_DECLS
