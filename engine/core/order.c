#include "core/order.h"

LamBlocks
lam_blocks_new (int64_t views)
{
  LamBlocks b = {.views = views};
  b.size = LAM_CLAMP ((views + 31) / 32, 1, 16);
  b.count = (views + b.size - 1) / b.size;
  return b;
}

LamRange
lam_blocks_views (const LamBlocks *b, int64_t block)
{
  return (LamRange){block * b->size, LAM_MIN ((block + 1) * b->size, b->views)};
}

LamRange
lam_node_blocks (const LamBlocks *b, LamNode node)
{
  return (LamRange){node.index << node.level, LAM_MIN ((node.index + 1) << node.level, b->count)};
}

int
lam_blocks_nodes (const LamBlocks *b, LamRange blocks, int at_least, LamNode *nodes)
{
  int n = 0;
  for (int64_t at = blocks.begin; at < blocks.end && n < LAM_MAX_NODES;) {
    int level = 0;
    for (;;) { /* the largest node that starts here and ends inside, or at the very last block */
      int64_t step = INT64_C (2) << level;
      if (at % step != 0 || at + step / 2 >= b->count || (at + step > blocks.end && blocks.end < b->count))
        break;
      level++;
    }
    nodes[n++] = (LamNode){level, at >> level};
    at = lam_node_blocks (b, nodes[n - 1]).end;
  }
  while (n < at_least && n < LAM_MAX_NODES) {
    int largest = -1;
    int64_t most = 1;
    for (int i = 0; i < n; i++) {
      int64_t size = lam_range_size (lam_node_blocks (b, nodes[i]));
      if (size > most) {
        most = size;
        largest = i;
      }
    }
    if (largest < 0)
      break;
    LamNode node = nodes[largest];
    LamNode left = {node.level - 1, node.index * 2}, right = {node.level - 1, node.index * 2 + 1};
    if (lam_range_size (lam_node_blocks (b, right)) == 0) { /* an only child stands for its parent */
      nodes[largest] = left;
      continue;
    }
    for (int i = n; i > largest + 1; i--)
      nodes[i] = nodes[i - 1];
    nodes[largest] = left;
    nodes[largest + 1] = right;
    n++;
  }
  return n;
}

int
lam_fold_program (const LamBlocks *b, LamRange blocks, const LamNode *nodes, int n, uint8_t *merges)
{
  LamNode stack[80];
  int depth = 0, deepest = 0;
  int64_t at = blocks.begin;
  for (int i = 0; i < n; i++) {
    LamRange r = lam_node_blocks (b, nodes[i]);
    if (r.begin != at || depth >= 79)
      return -1;
    at = r.end;
    stack[depth++] = nodes[i];
    deepest = LAM_MAX (deepest, depth);
    merges[i] = 0;
    for (;;) {
      LamNode *top = &stack[depth - 1];
      /* An only child rises until it has a left sibling. */
      while (!(top->index & 1) && ((top->index + 1) << top->level) >= b->count && top->index > 0)
        *top = (LamNode){top->level + 1, top->index / 2};
      if (depth < 2 || !(top->index & 1) || stack[depth - 2].level != top->level
          || stack[depth - 2].index != top->index - 1)
        break;
      depth--;
      stack[depth - 1] = (LamNode){stack[depth - 1].level + 1, stack[depth - 1].index / 2};
      merges[i]++;
    }
  }
  if (at != blocks.end || depth > 1)
    return -1;
  return deepest;
}
