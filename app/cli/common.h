/* common.h: what every command shares: parsing, numbers, errors, exit status.
 *
 * One process runs one command, so option values live in static variables of the command's file. Numbers are read and
 * printed in the C locale, whatever the user's language. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

enum {
  LAM_EXIT_DONE = 0,
  LAM_EXIT_FAILED = 1,
  LAM_EXIT_USAGE = 2,
  LAM_EXIT_NO_FIT = 3, /* `plan': what was asked about does not fit */
  LAM_EXIT_CANCELLED = 130,
};

/* Errors of this domain are the caller's: exit status 2. */
#define LAM_CLI_USAGE (lam_cli_usage_quark ())
enum { LAM_CLI_WRONG, LAM_CLI_TOO_MANY /* arguments */ };
GQuark lam_cli_usage_quark (void);
void lam_cli_usage_error (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Makes @error a usage error, whatever it was. Always FALSE. */
gboolean lam_cli_to_usage (GError **error);

/* ---- options ---- */
typedef struct {
  const char *arguments; /* "INPUT [-o OUT.h5]" */
  const char *summary;   /* what the command does; N_() */
  const char *example;   /* lines of examples; not translated */
} LamCliHelp;

/* Shared by all commands: "--json". */
extern gboolean lam_cli_json;
extern const GOptionEntry lam_cli_common_entries[];
/* Reads options; what is left in @argv [1 … @argc) are arguments, checked to be from @least to @most. --help prints and
 * ends the program. @groups: arrays of entries, NULL at the end; lam_cli_common_entries is added. */
gboolean lam_cli_parse (const LamCliHelp *help, const GOptionEntry *const *groups, int least, int most, int *argc,
                        char ***argv, GError **error);

/* Values of options; a NULL @text leaves @out alone and is right. Usage errors name option, text and range. */
gboolean lam_cli_double (const char *option, const char *text, double low, double high, double *out, GError **error);
gboolean lam_cli_int (const char *option, const char *text, int64_t low, int64_t high, int64_t *out, GError **error);
/* Lengths: above 0; "inf" where @infinite. */
gboolean lam_cli_length (const char *option, const char *text, gboolean infinite, double *out, GError **error);
/* "A:B"; @form is how it is written ("START:STOP"). */
gboolean lam_cli_pair (const char *option, const char *form, const char *text, double *a, double *b, GError **error);
gboolean lam_cli_range (const char *option, const char *text, LamRange *out, GError **error);
/* "RxCxK": rows, columns, slices. */
gboolean lam_cli_shape (const char *option, const char *text, int64_t out[3], GError **error);
/* One of @names (NULL at the end); @index gets which. */
gboolean lam_cli_choice (const char *option, const char *text, const char *const *names, int *index, GError **error);

/* ---- text ---- */
/* "lamina" and the words of @argv, quoted where a shell needs it: what was typed. g_free (). */
char *lam_cli_command_line (int argc, char **argv);
/* "%.6g" and other %-forms for one double, in the C locale; one of a ring of buffers, good for the next 15 calls. */
const char *lam_cli_number (double x);
const char *lam_cli_format (const char *format, double x);
/* "1.2 GB (1234567890 bytes)" of the same ring; "too large" below 0. */
const char *lam_cli_bytes (int64_t bytes);
/* A line (or more) to stdout, as UTF-8; nothing with --json. */
void lam_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* As lam_cli_print (), but to stderr, with "lamina: " in front, and with --json too. */
void lam_cli_warn (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Says @error and returns the exit status that it means. */
int lam_cli_fail (const GError *error);
/* "io", "missing", ... of the errors' codes; "usage". */
const char *lam_cli_error_name (const GError *error);

/* ---- files ---- */
/* Refuses an @output that is @input itself, by whatever name; @input may be missing. */
gboolean lam_cli_not_same (const char *input, const char *output, GError **error);
/* Refuses an @output whose name does not end in one of @suffixes (NULL at the end), in any case: what it holds would not be what
 * it seems. @what: "a dictionary is written as HDF5". */
gboolean lam_cli_suffix (const char *output, const char *what, const char *const *suffixes, GError **error);
/* Suffixes of tables (".csv") and of HDF5 files. */
extern const char *const lam_cli_table_suffixes[];
extern const char *const lam_cli_h5_suffixes[];
/* Refuses an @output that could not be written, before any work. */
gboolean lam_cli_writable (const char *output, GError **error);

/* ---- the commands: argv [0] is the command's name; the exit status comes back ---- */
int lam_cli_info (int argc, char **argv);
int lam_cli_reconstruct (int argc, char **argv);
int lam_cli_project (int argc, char **argv);
int lam_cli_phantom (int argc, char **argv);
int lam_cli_render (int argc, char **argv);
int lam_cli_convert (int argc, char **argv);
int lam_cli_sweep (int argc, char **argv);
int lam_cli_plan (int argc, char **argv);
int lam_cli_devices (int argc, char **argv);
int lam_cli_simulate (int argc, char **argv);
int lam_cli_jacobian (int argc, char **argv);
int lam_cli_crlb (int argc, char **argv);
int lam_cli_design (int argc, char **argv);
int lam_cli_dictionary (int argc, char **argv);
int lam_cli_match (int argc, char **argv);
int lam_cli_bench (int argc, char **argv);

G_END_DECLS
