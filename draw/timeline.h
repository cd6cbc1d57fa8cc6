/* timeline.h: the drawing of a sequence over time: rulers, RF magnitude and phase, three gradients, ADC, and the time. */
#pragma once

#include "draw/canvas.h"
#include "mr/pulseq-window.h"

G_BEGIN_DECLS

typedef enum {
  LAM_ROW_RULERS,
  LAM_ROW_RF,
  LAM_ROW_PHASE,
  LAM_ROW_GX,
  LAM_ROW_GY,
  LAM_ROW_GZ,
  LAM_ROW_ADC,
  LAM_ROWS,
} LamTimelineRow;

typedef struct {
  double left, right; /* of the time axis */
  double top[LAM_ROWS], height[LAM_ROWS];
  double bottom; /* of the rows; the time stands below */
} LamTimelineLayout;

#define LAM_TIMELINE_LEFT 92
#define LAM_TIMELINE_RIGHT 14

void lam_timeline_layout (double width, double height, LamTimelineLayout *layout);

typedef struct {
  int64_t t0, t1;                /* what is shown, ps */
  const LamPulseqWindow *window; /* perhaps of other times: it is drawn where it belongs */
  const GArray *instants;        /* of LamPulseqInstant; may be NULL */
  double rf, gradient;           /* full scale: Hz, Hz/m */
} LamTimelinePicture;

static inline double
lam_timeline_x (const LamTimelineLayout *l, const LamTimelinePicture *p, int64_t ps)
{
  return l->left + (double) (ps - p->t0) / (double) (p->t1 - p->t0) * (l->right - l->left);
}

void lam_timeline_draw (cairo_t *cr, const LamCanvas *canvas, const LamTimelineLayout *layout,
                        const LamTimelinePicture *picture);
/* "Gx" */
const char *lam_timeline_row_name (LamTimelineRow row);

G_END_DECLS
