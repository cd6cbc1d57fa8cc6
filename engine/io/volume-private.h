/* volume-private.h: text shared by the writer and the reader of result files. */
#pragma once

#define LAM_CHECKSUM_PREFIX "sha256:"
#define LAM_CHECKSUM_EMPTY LAM_CHECKSUM_PREFIX "0000000000000000000000000000000000000000000000000000000000000000"
#define LAM_LAYOUT_MARK_RCS "row-column-slice"
#define LAM_LAYOUT_MARK_SCR "slice-column-row"
#define LAM_CONVENTION                                                                                                 \
  "at angle 0 columns run with the detector channels, rows towards the source, slices down the axis with the "         \
  "detector rows; a growing angle turns the object from +column to +row (clockwise seen with row 0 at the top and "    \
  "the source below); the centre of N samples is index (N-1)/2"
