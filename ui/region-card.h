/* region-card.h: numbers of the circle or rectangle that is measured; hidden while there is none. */
#pragma once

#include <gtk/gtk.h>

#include "model/measure.h"

G_BEGIN_DECLS

#define LAM_TYPE_REGION_CARD (lam_region_card_get_type ())
G_DECLARE_FINAL_TYPE (LamRegionCard, lam_region_card, LAM, REGION_CARD, GtkBox)

void lam_region_card_set_measure (LamRegionCard *self, LamMeasure *measure);
/* What a number's place shows: "mean", "sd", "min", "max", "n", "NaN". */
const char *lam_region_card_get_text (LamRegionCard *self, const char *name);

G_END_DECLS
