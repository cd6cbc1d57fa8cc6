/* profile-card.h: the values along the measured line, as a chart over its length; hidden while there is none. */
#pragma once

#include <gtk/gtk.h>

#include "chart.h"
#include "model/measure.h"

G_BEGIN_DECLS

#define LAM_TYPE_PROFILE_CARD (lam_profile_card_get_type ())
G_DECLARE_FINAL_TYPE (LamProfileCard, lam_profile_card, LAM, PROFILE_CARD, GtkBox)

void lam_profile_card_set_measure (LamProfileCard *self, LamMeasure *measure);
LamChart *lam_profile_card_get_chart (LamProfileCard *self); /* NULL before the first line */

G_END_DECLS
