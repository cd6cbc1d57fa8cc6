/* order.h: one answer for any number of devices. Theory of operation.
 *
 * A floating-point sum depends on its order. So every output of the engine accumulates its contributions in one order
 * that the problem alone decides; devices, threads, bands, batches and chunks only cut that order into pieces.
 *
 *  - *One output, one owner.* A forward projection's sample (view, row, channel) takes its pixels in the order of the
 *    pixel list, whoever owns the view and however the list is cut. Nothing else needs a rule there.
 *  - *Sums over views* (back projection, Hessian diagonal). Views are cut into blocks of clamp(ceil(V/32), 1, 16), see
 *    lam_blocks_new (). A block is summed from zero in view order; the block sums are folded in one binary tree over the
 *    block index: node (level l, index j) covers blocks [j 2^l, (j+1) 2^l), cut off at the last block, and is the sum of its
 *    two children, or its only child. Any contiguous range of blocks is a row of complete nodes, at most 2 log2 of
 *    the block count (lam_blocks_nodes ()). Whoever owns the range computes those nodes and sends them; whoever owns the
 *    output folds all nodes of all owners, in block order, with lam_fold_program (). The result is the root of the
 *    same tree for every way of cutting: no owner waits for another, and none holds all blocks.
 *  - *Inner products.* One double for each view (sinogram) or for each slice (volume); a view's over 32 fixed lanes in
 *    memory order, a slice's over fixed chunks of LAM_CHUNK pixels of the list, folded in chunk order. The doubles of
 *    all views or slices are added by index on the host.
 *  - *Which kernel runs* is decided by the whole problem's sizes (lam_projector_new ()), never by a shard's.
 *  - *Arithmetic.* Built with -ffp-contract=off and explicit fused operations; every thread that computes flushes
 *    denormals to zero (lam_fp_setup ()).
 *
 * Across instruction sets results agree to rounding, not to the bit. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* Pixels whose contribution to an inner product is summed before the fold over chunks. */
#define LAM_CHUNK 64
/* No fold has more nodes than this (devices and threads are at most 64, each with at most 2 x 32 nodes, rarely met). */
#define LAM_MAX_NODES 512

typedef struct {
  int64_t views; /* in all */
  int64_t size;  /* views in a block; the last may hold fewer */
  int64_t count; /* blocks */
} LamBlocks;

/* A complete node of the tree over blocks: blocks [index << level, (index + 1) << level), cut off at the last block. */
typedef struct {
  int level;
  int64_t index;
} LamNode;

LamBlocks lam_blocks_new (int64_t views);
LamRange lam_blocks_views (const LamBlocks *b, int64_t block);
/* Blocks of a node. */
LamRange lam_node_blocks (const LamBlocks *b, LamNode node);

/* The fewest complete nodes that cover the blocks [begin, end), in block order; split further, largest first, until there
 * are at least @at_least (or every node is one block). Writes at most LAM_MAX_NODES and returns how many. */
int lam_blocks_nodes (const LamBlocks *b, LamRange blocks, int at_least, LamNode *nodes);

/* How to fold @n nodes that tile @blocks (all blocks, or those of one node) in order: after node i is pushed on a stack,
 * merges[i] times replace the two topmost by their sum (lower + upper). Returns the deepest stack that needs, or -1 if
 * the nodes do not tile @blocks or do not fold into one. */
int lam_fold_program (const LamBlocks *b, LamRange blocks, const LamNode *nodes, int n, uint8_t *merges);

G_END_DECLS
