/* session-parameters.h: the parameters of a reconstruction, with ranges, defaults and words. */
#pragma once

#include "ct/geometry.h"
#include "model/parameter-list.h"
#include "run/provenance.h"

G_BEGIN_DECLS

/* Ids: geometry: angle_start, angle_stop, beam, center, tilt, reversed, pitch, source_detector, source_axis; volume:
 * region; those of the preparation are told in preparation.h; method: method, sharpness, snr_db, weights, positivity, row_weight, column_weight,
 * slice_weight, prior_p, prior_q, prior_t; run: iterations, stop_percent, devices. */
void lam_session_add_parameters (LamParameterList *list);

/* The ids of one group of the sidebar, ended by NULL. */
typedef enum {
  LAM_GROUP_GEOMETRY,
  LAM_GROUP_PREPARATION,
  LAM_GROUP_VOLUME,
  LAM_GROUP_METHOD,
  LAM_GROUP_RUN
} LamGroupKind;
const char *const *lam_session_group_ids (LamGroupKind group);

/* Defaults and ranges from @base, the geometry as the file states it; values not changed by hand follow. */
void lam_session_parameters_from (LamParameterList *list, const LamGeometry *base);
/* "pitch" was changed. */
void lam_session_parameters_follow_pitch (LamParameterList *list);
/* Where a hand puts the axis (relative to the detector's middle) and the distances of a cone beam; the geometry's unit. */
typedef struct {
  double channel_offset, source_detector, source_axis;
} LamPlace;

/* One of the distances' rows in the geometry's unit: a pitch given by hand makes mm of px. */
double lam_session_distance_scale (LamParameterList *list);

/* The values of the parameters "center", "source_detector" and "source_axis". */
typedef struct {
  double center, source_detector, source_axis;
} LamPlaceValues;
LamPlaceValues lam_session_place_values (LamParameterList *list);

/* @base as the parameters, and @place instead of three of them, change it, with its automatic volume. @made: what its
 * channels are of the file's; NULL = the same. Freed with lam_geometry_free (). */
LamGeometry *lam_session_geometry_from (LamParameterList *list, const LamPlaceValues *place, const LamGeometry *base,
                                        const LamProvenance *made, GError **error);

G_END_DECLS
