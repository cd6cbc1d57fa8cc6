/* projector-private.h: shared by the projector's own files. */
#pragma once

#include "ct/projector.h"

/* Pixels whose sums are fetched and folded at a time: the pieces of all nodes stay in the nearest caches. */
#define LAM_FOLD_PIXELS 64

/* How one device cuts a back projection of a list: nodes of its blocks, pixels at a time. */
typedef struct {
  LamNode nodes[LAM_MAX_NODES];
  int n_nodes;
  int depth;           /* partial sums alive inside a node, its own result included */
  gboolean fused;      /* the list goes through each block in one piece */
  int64_t batch;       /* pixels between two exchanges */
  int64_t tree_pixels; /* pixels of one partial sum */
} LamListCut;

LamRange lam_projector_own_blocks (const LamProjector *p, int d);
void lam_projector_cut_list (const LamProjector *p, int d, int64_t n, LamListCut *cut);
void lam_projector_cut_all (const LamProjector *p, int64_t n, int64_t *batch, gboolean *fused);
