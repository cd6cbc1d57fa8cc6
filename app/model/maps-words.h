/* maps-words.h: what the Maps tab has, in words. Each for g_free (). */
#pragma once

#include "model/maps-data.h"
#include "model/maps-jobs.h"

G_BEGIN_DECLS

/* "2 112 atoms × 500 contrasts · 12 MB · about 0.2 s" */
char *lam_maps_words_forecast (const LamDictionaryForecast *f);
char *lam_maps_words_dictionary (const LamMapsDictionary *d);
/* @stale: a phantom of another train than the present one. */
char *lam_maps_words_series (const LamMapsSeries *s, gboolean stale);
/* Also whether it is of the dictionary and the series that are there now; either may be NULL. */
char *lam_maps_words_result (const LamMapsResult *r, const LamMapsDictionary *now_d, const LamMapsSeries *now_s);

G_END_DECLS
