/* The centre from cone-beam views: each ray of the mid-plane against the same line seen from the other side. */
#include <math.h>

#include "ct/center-private.h"

/* Channel offset u (a length, from the axis) to the ray's angle from the central one. */
static inline double
ray_angle (const LamGeometry *g, double u)
{
  return g->detector == LAM_DETECTOR_CURVED ? u / g->source_detector : atan2 (u, g->source_detector);
}

/* Linear between views and channels; FALSE outside. */
static inline gboolean
look_up (const CenterViews *d, int64_t row, double view, double channel, double *value)
{
  if (d->full_turn)
    view -= floor (view / (double) d->views) * (double) d->views;
  if (view < 0 || channel < 0 || channel > (double) (d->channels - 1)
      || (!d->full_turn && view > (double) (d->views - 1)))
    return FALSE;
  int64_t v = LAM_MIN ((int64_t) view, d->views - 1), n = LAM_MIN ((int64_t) channel, d->channels - 1);
  int64_t v1 = v + 1 < d->views ? v + 1 : d->full_turn ? 0 : v, n1 = LAM_MIN (n + 1, d->channels - 1);
  double s = view - (double) v, t = channel - (double) n;
  const float *a = center_view (d, row, v), *b = center_view (d, row, v1);
  *value = (1 - s) * ((1 - t) * a[n] + t * a[n1]) + s * ((1 - t) * b[n] + t * b[n1]);
  return TRUE;
}

void
center_conjugate (const CenterViews *d, const LamGeometry *g, int64_t bin, CenterCurve *curve)
{
  double pitch = (double) bin * g->channel_pitch, turn = 2 * G_PI / d->step;
  double energy = 0;
  for (int64_t i = 0; i < d->rows * d->views * d->channels; i++)
    energy += (double) d->data[i] * d->data[i];
  for (int64_t i = 0; i < curve->n; i++) {
    double center = curve->first + (double) i * curve->step;
    for (int64_t m = 0; m < d->rows; m++)
      for (int64_t n = 0; n < d->channels; n++) {
        /* The line at (angle, gamma) is also the line at (angle + pi - 2 gamma, -gamma). */
        double shift = (G_PI - 2 * ray_angle (g, ((double) n - center) * pitch)) / d->step;
        for (int64_t v = 0; v < d->views; v++) {
          double here = center_view (d, m, v)[n], there, at = (double) v + shift;
          if (!d->full_turn && at > (double) (d->views - 1))
            at -= turn;
          if (!look_up (d, m, at, 2 * center - (double) n, &there))
            continue;
          curve->top[v % CENTER_GROUPS * curve->n + i] += (here - there) * (here - there);
          curve->bottom[v % CENTER_GROUPS * curve->n + i] += here * here + there * there;
        }
      }
    for (int group = 0; group < CENTER_GROUPS; group++) {
      curve->top[group * curve->n + i] += 0.02 * energy / CENTER_GROUPS;
      curve->bottom[group * curve->n + i] += 0.02 * energy / CENTER_GROUPS;
    }
  }
}
