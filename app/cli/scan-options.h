/* scan-options.h: what the person says about a scan, shared by the commands that open one; and its import list. */
#pragma once

#include "cli/json.h"
#include "io/scan.h"

G_BEGIN_DECLS

/* --geometry, --source-detector, --source-axis, --pitch, --channel-offset, --row-offset: also of `project`. */
extern const GOptionEntry lam_cli_geometry_entries[];
/* --angles, --angle-unit, --direction, --data. */
extern const GOptionEntry lam_cli_scan_entries[];

typedef struct {
  LamScanOptions scan;
  double channel_offset, row_offset; /* NAN = not given */
} LamCliScan;

/* The options read; usage errors. */
gboolean lam_cli_scan_options (LamCliScan *out, GError **error);
/* Opens @path with them; offsets are in its geometry. */
LamScan *lam_cli_open_scan (const char *path, const LamCliScan *options, GError **error);

/* "found   angles: ..." lines; @indent spaces in front. */
void lam_cli_print_findings (const LamScan *scan);
void lam_json_findings (JsonBuilder *b, const char *name, const LamScan *scan);
/* Members of a geometry in the open object: kind, sizes, pitches, offsets, distances, angles, volume. */
void lam_json_geometry (JsonBuilder *b, const char *name, const LamGeometry *g);
/* @center_assumed: nobody said where the axis is. */
void lam_cli_print_geometry (const LamGeometry *g, gboolean center_assumed);
/* The warnings of the geometry, a line each. */
void lam_cli_print_warnings (const char *lines);

G_END_DECLS
