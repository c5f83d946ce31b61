/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; torchrun's manual,
 * "Environment Variables"; mpirun(1) of Open MPI; Intel MPI and Cray PALS. */

#include "cli/record/record_job.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in the first variable of "A|B" that is set, else `otherwise`. Of
 * "4(x2)" it is 4. */
static size_t number(const char *names, size_t otherwise) {
  char name[64], *end;
  for (; *names; names += strspn(names, "|")) {
    size_t n = strcspn(names, "|");
    snprintf(name, sizeof name, "%.*s", (int)n, names);
    names += n;
    const char *value = getenv(name);
    if (!value || !isdigit((unsigned char)*value))
      continue;
    unsigned long x = strtoul(value, &end, 10);
    if (x < 1000000)
      return x;
  }
  return otherwise;
}

/* A text of the environment as part of a name of a file and a comment. */
static void add_plain(char *to, size_t size, const char *text) {
  size_t len = strlen(to);
  for (; *text && len + 1 < size; text++)
    to[len++] = isalpha((unsigned char)*text) ||
                        isdigit((unsigned char)*text) || strchr("._-", *text)
                    ? *text
                    : '-';
  to[len] = '\0';
}

static void find_id(struct dl_record_job *j) {
  const char *step = getenv("SLURM_STEP_ID"), *id = getenv("SLURM_JOB_ID");
  static const char *const others[] = {"TORCHELASTIC_RUN_ID", "PBS_JOBID",
                                       "LSB_JOBID", "JOB_ID"};
  for (size_t i = 0; !id && i < sizeof others / sizeof *others; i++) {
    id = getenv(others[i]);
    if (id && (!*id || dl_is_word(id, "none"))) /* torchrun without one */
      id = NULL;
  }
  if (!id)
    return;
  add_plain(j->id, sizeof j->id, id);
  if (step && getenv("SLURM_JOB_ID")) {
    add_plain(j->id, sizeof j->id, ".");
    add_plain(j->id, sizeof j->id, step);
  }
}

void dl_record_job_find(struct dl_record_job *j, struct dl_diag *d) {
  char host[256] = "";
  *j = (struct dl_record_job){
      .rank = number("LOCAL_RANK|SLURM_LOCALID|OMPI_COMM_WORLD_LOCAL_RANK|"
                     "MPI_LOCALRANKID|PALS_LOCAL_RANKID",
                     0),
      .ranks = number("LOCAL_WORLD_SIZE|SLURM_STEP_TASKS_PER_NODE|"
                      "OMPI_COMM_WORLD_LOCAL_SIZE|MPI_LOCALNRANKS",
                      1),
      .node = number("GROUP_RANK|SLURM_NODEID", 0),
      .nodes = number("GROUP_WORLD_SIZE|SLURM_STEP_NUM_NODES", 1)};
  gethostname(host, sizeof host - 1);
  host[strcspn(host, ".")] = '\0';
  add_plain(j->host, sizeof j->host, host);
  find_id(j);
  size_t all = number("SLURM_NNODES|SLURM_JOB_NUM_NODES", 1);
  if (j->nodes == 1 && all > 1 && !getenv("SLURM_STEP_ID"))
    dl_warn(d,
            "the job has %zu nodes, and this one alone is recorded; one "
            "recorder per node: srun --ntasks-per-node=1 dlest record -- ...",
            all);
}

void dl_record_job_path(const struct dl_record_job *j, const char *path,
                        struct dl_text *to) {
  static const char host[] = "{host}", job[] = "{job}";
  for (const char *p = path ? path : ""; *p;) {
    if (strncmp(p, host, sizeof host - 1) == 0) {
      dl_text_add(to, j->host);
      p += sizeof host - 1;
    } else if (strncmp(p, job, sizeof job - 1) == 0) {
      dl_text_add(to, *j->id ? j->id : "job");
      p += sizeof job - 1;
    } else {
      dl_text_add_n(to, p++, 1);
    }
  }
}

void dl_record_command_text(char *const *argument, size_t n,
                            struct dl_text *to) {
  for (size_t i = 0; i < n; i++) {
    dl_text_add(to, i ? " " : "");
    for (const char *p = argument[i]; *p; p++)
      dl_text_add_n(to, (unsigned char)*p < ' ' ? "?" : p, 1);
  }
}
