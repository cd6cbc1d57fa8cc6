/* presets.h: relaxation times of common tissues, each with where it was measured. */
#pragma once

typedef struct {
  const char *name;   /* "white matter" */
  double field;       /* T */
  double t1, t2;      /* ms */
  const char *source; /* paper and table */
} LamTissuePreset;

/* Ends with name NULL. */
extern const LamTissuePreset lam_tissue_presets[];
/* "white matter@3" or "white matter" (3 T); NULL: unknown. */
const LamTissuePreset *lam_tissue_preset (const char *name);
