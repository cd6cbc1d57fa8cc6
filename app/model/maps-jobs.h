/* maps-jobs.h: what the Maps tab does, as jobs. None of them changes what is there: each makes a new thing, its result. */
#pragma once

#include "model/atom-ranges.h"
#include "model/maps-data.h"
#include "mr/model.h"
#include "run/job.h"

G_BEGIN_DECLS

/* What a dictionary is made of; copies where pointers are taken. */
typedef struct {
  LamMapsSource *source;
  LamAtomRanges *ranges;
  int rank; /* modes of its basis; 0: none */
} LamDictionaryRecipe;

/* What a file was when it was read, and a folder that it may have moved to (NULL: none). */
typedef struct {
  LamFileStamp stamp;
  char *folder;
} LamMapsPlace;

void lam_dictionary_recipe_free (LamDictionaryRecipe *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamDictionaryRecipe, lam_dictionary_recipe_free)

/* What a recipe would take. */
typedef struct {
  int64_t atoms, excluded, contrasts, bytes;
  double seconds; /* about; without the basis */
  gboolean basis; /* there will be one */
} LamDictionaryForecast;

/* Any thread; a small part is simulated to see how fast that goes. Refused with the reason where the recipe is none, or does
 * not fit in memory. For g_free (). */
LamDictionaryForecast *lam_dictionary_forecast (const LamDictionaryRecipe *r, LamControl *control, GError **error);

/* Take @recipe. Result: a LamMapsDictionary. */
LamJob *lam_maps_job_dictionary (LamDictionaryRecipe *recipe);
/* @place: of a session that is opened again; NULL: the file as it is now. */
LamJob *lam_maps_job_open_dictionary (const char *path, const LamMapsPlace *place);
LamJob *lam_maps_job_save_dictionary (LamMapsDictionary *d, const char *path);
/* Result: a LamMapsSeries. @dataset: of an HDF5 file, NULL: the only one that can be meant. @contrasts: how many it must have;
 * 0: any number. */
LamJob *lam_maps_job_open_series (const char *path, const char *dataset, int64_t contrasts, const LamMapsPlace *place);
/* Takes @source. */
LamJob *lam_maps_job_phantom (LamMapsSource *source, double noise);
/* Result: a LamMapsResult. @mask: the file of an image that is 0 where nothing is to be matched; NULL: everywhere is. */
LamJob *lam_maps_job_match (LamMapsDictionary *d, LamMapsSeries *s, int rank, const char *mask);
/* One HDF5 file or a folder of NIfTI files, as @path ends. */
LamJob *lam_maps_job_save (LamMapsResult *r, const char *path);

G_END_DECLS
