/* preparation.h: the parameters of what is done to the samples before a run (run/prepare.h). */
#pragma once

#include "model/parameter-list.h"
#include "run/prepare.h"

G_BEGIN_DECLS

/* Ids: defects, clamp_above, bad_pixels, bad_pixel_sigmas, bad_pixel_list, background, edge_width, zingers, stripes, stripe_snr,
 * stripe_large, stripe_small, stripe_sigma, stripe_levels, crop, crop_row_first, crop_row_last, crop_channel_first,
 * crop_channel_last, bin; and weights, which is shown with the method. */
void lam_preparation_add_parameters (LamParameterList *list);
extern const char *const lam_preparation_ids[]; /* ended by NULL */
gboolean lam_preparation_is_id (const char *id);

/* Ranges and defaults of @scan's detector; NULL = data that came from no file: there is nothing to prepare. */
void lam_preparation_from_scan (LamParameterList *list, const LamScan *scan);
/* After @id changed: which rows are shown, what they say. */
void lam_preparation_follow (LamParameterList *list, const char *id);
/* What the list says. Numbers of a method that is off are left at their defaults, so that two lists that do the same are
 * equal. lam_prepare_params_clear (); a list of bad pixels is only named (lam_prepare_params_resolve ()). */
void lam_preparation_params (LamParameterList *list, LamPrepareParams *params);

G_END_DECLS
