/* cli-util.h: runs the built `lamina` (LAMINA_BIN) in a folder of its own and looks at what it says. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct {
  int status;      /* exit status; 1000 + the signal when it was killed by one */
  char *out, *err; /* stdout, stderr */
} CliRun;

/* Before any run: the folder, and quiet surroundings (C locale, state in the folder). */
void cli_init (void);
void cli_finish (void);
const char *cli_folder (void);
/* "NAME" in the folder; g_free (). */
char *cli_path (const char *name);

/* @command is split as a shell does; the folder is the working directory. */
CliRun *cli_run (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* With "NAME=VALUE" pairs, NULL at the end. */
CliRun *cli_run_env (const char *const *env, const char *command);
/* Surroundings in which numbers have a comma, for cli_run_env (). NULL, and the test skipped, where there is no such locale and
 * none can be made. */
GStrv cli_comma_locale (void);
/* Sends SIGINT @signals times, each after stdout has shown @after once more. */
CliRun *cli_run_interrupted (const char *command, const char *after, int signals);
/* The same with signal @number. */
CliRun *cli_run_signalled (const char *command, const char *after, int number, int signals);
/* Sends signal @number as soon as the program has a handler for it, or when it has run for 10 s. */
CliRun *cli_run_signalled_early (const char *command, int number);
void cli_run_free (CliRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliRun, cli_run_free)

/* Runs and asserts the exit status, with all that was said in the message. */
CliRun *cli_ok (const char *format, ...) G_GNUC_PRINTF (1, 2);
#define cli_assert_status(run, wanted)                                                                                 \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    if ((run)->status != (wanted))                                                                                     \
      g_error ("status %d, not %d: %s%s", (run)->status, (wanted), (run)->out, (run)->err);                            \
  }                                                                                                                    \
  G_STMT_END
#define cli_assert_says(text, word)                                                                                    \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    if (!strstr (text, word))                                                                                          \
      g_error ("\"%s\" is not in: %s", (word), (text));                                                                \
  }                                                                                                                    \
  G_STMT_END

/* Lines of @text as JSON objects; every line must be one. The last of them. */
GPtrArray *cli_json_lines (const char *text); /* of JsonNode, owned */
JsonObject *cli_json_last (GPtrArray *lines);
/* "info --checksum" of a file: 64 digits; g_free (). */
char *cli_checksum (const char *file);

G_END_DECLS
