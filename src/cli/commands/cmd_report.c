/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest report: a scheduler's jobs, their energy, by job and group. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/options/input_options.h"
#include "cli/passes/report_pass.h"
#include "cli/views/summary/report_summary.h"
#include "estimate/accounting/totals_file.h"

static enum dl_status read_date(const struct dl_option *row, char *arg,
                                void *at, struct dl_diag *d) {
  static const char *const rest[] = {"", "T00:00:00", "-01T00:00:00",
                                     "-01-01T00:00:00"};
  struct dl_timestamp t = {0};
  bool ok = false;
  (void)row, (void)d;
  for (size_t i = 0; !ok && i < sizeof rest / sizeof *rest; i++) {
    char text[64];
    int n = snprintf(text, sizeof text, "%s%s", arg, rest[i]);
    ok = n > 0 && (size_t)n < sizeof text && (n > 6 || i > 0) &&
         strchr(text, '-') && dl_parse_timestamp(text, (size_t)n, &t) &&
         t.dated;
  }
  *(int64_t *)at = t.ns;
  return ok ? DL_OK : DL_EUSAGE;
}

static enum dl_status read_by(const struct dl_option *row, char *arg, void *at,
                              struct dl_diag *d) {
  struct dl_report_options *o = at;
  DL_SCOPED(dl_strlist_free) struct dl_strlist parts = {0};
  (void)row, (void)d;
  memset(o->keys, 0, sizeof o->keys);
  o->each_job = false;
  dl_strlist_split(&parts, arg, ',');
  bool ok = parts.n > 0;
  for (size_t i = 0; ok && i < parts.n; i++) {
    ok = strcmp(parts.s[i], "job") == 0;
    o->each_job = o->each_job || ok;
    for (size_t k = 0; !ok && k < DL_N_KEYS; k++)
      if (strcmp(parts.s[i], dl_key_name(k)) == 0)
        ok = o->keys[k] = true;
  }
  return ok ? DL_OK : DL_EUSAGE;
}

#define AT(kind, member) DL_STORE(kind, struct dl_report_options, member)
#define DATE(member)                                                           \
  DL_READ(read_date, struct dl_report_options, member),                        \
      .expected = "a date, as 2024-03-01"

static const struct dl_option options[] = {
    DL_HEADING("Which jobs:", 1),
    {"user", 0, "LIST", "jobs of these users: ann,bob", AT(WORDS, users)},
    {"account", 0, "LIST", "jobs of these accounts", AT(WORDS, accounts)},
    {"since", 0, "DATE",
     "jobs that began on that date or later: 2024-03-01, 2024-03", DATE(since)},
    {"until", 0, "DATE", "jobs that began before that date", DATE(until)},
    {"by", 0, "LIST",
     "job, user, account, partition, state, gpu, month, or several (default: "
     "job,month)",
     .kind = DL_OPTION_READ, .read = read_by,
     .expected = "job, user, account, partition, state, gpu or month"},
    {"top", 0, "N",
     "the N groups (default: users) with the most idle GPU time, the most "
     "first",
     AT(COUNT, top), .low = 1, .high = 1e6, .without = "totals"},
    {"title", 0, "TEXT", "title of the report: a cluster, a project",
     AT(TEXT, title), .without = "totals"},
    {"all", 0, NULL, "print all jobs and all groups", AT(FLAG, all),
     .without = "totals"},
    {"explain", 0, NULL,
     "print all sums, and the figures behind estimates with their sources",
     AT(FLAG, explain), .without = "totals"},
    {"from", 'F', "FORMAT", "log format of the files ('dlest list importers')",
     DL_READ(dl_read_importer, struct dl_report_options, log.from)},
    {DL_SHARD_OPTION(struct dl_report_options, log.shard)},
    {"totals", 0, "FILE",
     "write the sums of the groups to FILE and stop; dlest report adds up such "
     "files",
     AT(TEXT, totals),
     .without =
         "output|format|country|cloud|site|intensity|intensity-hours|pue|"
         "price"},
    {DL_HOURS_OPTION(struct dl_report_options, hours_path), .group = 60},
    DL_HEADING("Where no energy was measured:", 2),
    {"gpu", 'g', "[WHERE=]NAME",
     "name of the GPUs (dlest list gpus), of all or of a type or partition",
     AT(LIST, cluster.gpus)},
    {"cpu", 0, "[PARTITION=]NAME",
     "name of the CPUs, of all nodes or of a partition: jobs without GPUs "
     "count "
     "their cores' share of it (default: a usual server's), and with it jobs "
     "with GPUs too",
     AT(LIST, cluster.cpus)},
    {"threads-per-core", 0, "N",
     "processors of a core that Slurm allocates (ThreadsPerCore): 1 or 2 "
     "(default: 1, with an interval for 2)",
     AT(NUMBER, cluster.threads), .low = 1, .high = 8, .whole = true},
    {"node-power", 0, "[PARTITION=]W",
     "mean power of a node; overrides all else", AT(LIST, cluster.node_power)},
    {"core-power", 0, "W", "power of a core, for jobs without --node-power",
     AT(ABOVE, cluster.core_power_w), .high = 1000},
    {0},
};

static const struct dl_option_table tables[] = {
    {options, 0},
    {dl_site_options_rows, offsetof(struct dl_report_options, foot)},
    {0},
};

static void init(void *options_at) {
  struct dl_report_options *o = options_at;
  o->foot = dl_footprint_none;
  o->cluster.core_power_w = o->cluster.threads = NAN;
  o->since = INT64_MIN;
  o->until = INT64_MAX;
  o->keys[DL_KEY_MONTH] = o->each_job = true;
}

/* The groups, totals and notes after the jobs, or instead of them. */
static struct dl_report *summary(struct dl_report_pass *w) {
  struct dl_report *r = dl_report_new();
  const struct dl_report_options *o = w->o;
  DL_TEXT(title);
  size_t most = 0;
  if (o->all || w->cli->format->whole || o->top > 0)
    most = SIZE_MAX;
  else if (dl_cli_given(w->cli, "by") || w->totals)
    most = DL_MOST_GROUPS;
  if (w->tally && o->top > 0)
    dl_group_totals_top(w->tally, o->top);
  else if (w->tally)
    dl_group_totals_sort(w->tally);
  if (o->title)
    dl_text_printf(&title, "%s: ", o->title);
  dl_text_printf(&title, "%zu job%s", w->sums.jobs,
                 w->sums.jobs == 1 ? "" : "s");
  dl_report_add_period(&title, w->tally, w->months);
  dl_report_answer(r, &w->sums, &o->foot, &title);
  if (w->tally)
    dl_report_groups(r, w->tally, o->keys, &o->foot, most, !o->each_job);
  if (o->explain) {
    dl_report_total(r, &w->sums, &o->foot);
    w->whole = dl_sums_footprint(&o->foot, &w->sums);
    dl_add_footprint(r, &w->whole);
    dl_report_constants(r, w->accounting);
    dl_say_footprint(r, &o->foot);
    dl_add_equivalents(r, &o->foot,
                       dl_paid_energy(&o->foot, dl_sums_energy(&w->sums)));
  }
  dl_report_hints(r, w->tally && most == 0,
                  o->each_job || w->totals || w->cli->format->whole, o->explain,
                  w->sums.estimated > 0);
  return r;
}

/* People get the summary below the jobs. */
static enum dl_status end_jobs(struct dl_report_pass *w) {
  DL_TRY(dl_report_begin(w)); /* a shard may have no job */
  DL_SCOPED(dl_report_free_local) struct dl_report *r = summary(w);
  dl_stream_tail(w->stream, r);
  enum dl_status status = dl_stream_end(w->stream, &w->cli->diag);
  w->stream = NULL;
  return status;
}

static enum dl_status write_jobs(struct dl_report_pass *w) {
  struct dl_cli *cli = w->cli;
  struct dl_output out;
  DL_TRY(dl_output_open(&out, cli->output, cli->strict, &cli->diag));
  w->f = out.f;
  enum dl_status status = dl_report_read(w);
  if (status == DL_OK)
    status = end_jobs(w);
  return dl_cli_commit(cli, &out, w->stream, status);
}

static enum dl_status write_groups(struct dl_report_pass *w) {
  DL_TRY(dl_report_read(w));
  return dl_cli_print(w->cli, summary(w));
}

/* Whether a file is written in place of a report, and may be. */
static enum dl_status write_totals(struct dl_report_pass *w) {
  const struct dl_report_options *o = w->o;
  struct dl_diag *d = &w->cli->diag;
  if (o->each_job && dl_cli_given(w->cli, "by"))
    return dl_fail(d, DL_EUSAGE,
                   "--totals has no single jobs: leave job out of --by");
  w->tally = dl_group_totals_new(o->keys);
  DL_TRY(dl_report_read(w));
  if (w->unfinished > 0)
    dl_warn(d,
            w->unfinished == 1
                ? "%zu job had not ended: totals of a later table count it "
                  "again"
                : "%zu jobs had not ended: totals of a later table count them "
                  "again",
            w->unfinished);
  DL_TRY(dl_cli_strict(w->cli));
  dl_group_totals_sort(w->tally);
  DL_SCOPED(dl_totals_free)
  struct dl_totals t = {
      .groups = w->tally, .keys = o->keys, .accounting = w->accounting};
  dl_totals_add_shard(&t, &o->log.shard);
  return dl_totals_write(&t, o->totals, d);
}

/* Finds the keys, which all files share; the keys of --by must be among them.
 */
static enum dl_status check_totals(struct dl_report_pass *w,
                                   struct dl_report_options *o) {
  struct dl_cli *cli = w->cli;
  bool first[DL_N_KEYS] = {false}, keys[DL_N_KEYS];
  DL_TRY(dl_cli_refuse(
      cli,
      "user|account|since|until|from|shard|gpu|cpu|threads-per-core|node-power|"
      "core-power",
      "on totals"));
  for (size_t i = 0; i < cli->n_arguments; i++) {
    DL_TRY(dl_totals_keys(cli->argument[i], keys, &cli->diag));
    if (i == 0)
      memcpy(first, keys, sizeof first);
    if (memcmp(first, keys, sizeof first) != 0)
      return dl_fail_at(&cli->diag, DL_EINPUT, cli->argument[i], 0,
                        "its groups differ from those of %s: make all totals "
                        "with the same --by",
                        cli->argument[0]);
  }
  if (!dl_cli_given(cli, "by")) {
    memcpy(o->keys, first, sizeof o->keys);
    o->each_job = false;
  }
  for (size_t k = 0; k < DL_N_KEYS; k++)
    if (o->keys[k] && !first[k])
      return dl_fail_at(&cli->diag, DL_EINPUT, cli->argument[0], 0,
                        "no totals by %s; write them with --totals --by %s",
                        dl_key_name(k), dl_key_name(k));
  return o->each_job ? dl_fail(&cli->diag, DL_EUSAGE,
                               "--totals has no single jobs: leave job out of "
                               "--by")
                     : DL_OK;
}

/* Reads the totals, and writes them as one if they are for a file. */
static enum dl_status join_totals(struct dl_report_pass *w) {
  struct dl_cli *cli = w->cli;
  DL_SCOPED(dl_totals_free)
  struct dl_totals t = {.groups = w->tally,
                        .keys = w->o->keys,
                        .accounting = w->accounting,
                        .same.path = cli->argument};
  for (size_t i = 0; i < cli->n_arguments; i++)
    DL_TRY(dl_totals_read(cli->argument[i], &t, &w->sums, &cli->diag));
  if (w->sums.jobs == 0)
    return dl_fail(&cli->diag, DL_EINPUT, "no jobs match");
  if (!w->o->totals) /* a sum that is written may lack some on purpose */
    dl_totals_check_shards(&t, &cli->diag);
  DL_TRY(dl_cli_strict(cli));
  dl_group_totals_sort(w->tally);
  return w->o->totals ? dl_totals_write(&t, w->o->totals, &cli->diag) : DL_OK;
}

/* A report of totals, or their sum as totals. */
static enum dl_status report_totals(struct dl_report_pass *w,
                                    struct dl_report_options *o) {
  DL_TRY(check_totals(w, o));
  w->tally = dl_group_totals_new(o->keys);
  DL_TRY(join_totals(w));
  return o->totals ? DL_OK : dl_cli_print(w->cli, summary(w));
}

static bool any_totals(const struct dl_cli *cli) {
  for (size_t i = 0; i < cli->n_arguments; i++)
    if (dl_totals_is_file(cli->argument[i]))
      return true;
  return false;
}

static enum dl_status report(struct dl_report_pass *w) {
  const struct dl_report_options *o = w->o;
  bool grouped = false;
  for (size_t k = 0; k < DL_N_KEYS; k++)
    grouped = grouped || o->keys[k];
  if (grouped)
    w->tally = dl_group_totals_new(o->keys);
  return o->each_job ? write_jobs(w) : write_groups(w);
}

static void free_pass(struct dl_report_pass *w) {
  dl_group_totals_free(w->tally);
  dl_accounting_free(w->accounting);
  dl_seen_rows_free(&w->seen);
}

static void dl_hours_free_at(struct dl_hours **at) {
  dl_hours_free(*at);
}

static enum dl_status run(struct dl_cli *cli, void *options_at) {
  struct dl_report_options *o = options_at;
  struct dl_catalog *catalog = dl_cli_catalog(cli);
  DL_SCOPED(free_pass) struct dl_report_pass w = {.cli = cli, .o = o};
  DL_SCOPED(dl_hours_free_at) struct dl_hours *hours = &o->hours;
  w.totals = any_totals(cli);
  if (o->top > 0 && o->each_job && dl_cli_given(cli, "by"))
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--top has no single jobs: leave job out of --by");
  if (o->top > 0 && !dl_cli_given(cli, "by")) {
    memset(o->keys, 0, sizeof o->keys);
    o->keys[DL_KEY_USER] = true;
    o->each_job = false;
  }
  o->explain |= cli->format->whole;
  if (cli->format->document &&
      (dl_cli_given(cli, "all") || !dl_cli_given(cli, "by")))
    o->each_job = o->all;
  DL_TRY(dl_site_find(&o->foot, catalog, &cli->diag));
  if (o->hours_path && w.totals)
    return dl_fail(&cli->diag, DL_EUSAGE,
                   "--intensity-hours is for jobs: totals have no times");
  if (o->hours_path) {
    DL_TRY(dl_hours_read(&o->hours, o->hours_path, &cli->diag));
    o->foot.hours = &o->hours;
    o->foot.intensity = (struct dl_factor){
        .x = o->hours.g[0], .of = o->hours_path, .year = NAN};
  }
  DL_TRY(dl_accounting_new(&w.accounting, &o->cluster, catalog, &cli->diag));
  if (w.totals)
    return report_totals(&w, o);
  return o->totals ? write_totals(&w) : report(&w);
}

const struct dl_command dl_cmd_report = {
    .name = "report",
    .summary = "energy and idle GPUs of a scheduler's jobs",
    .arguments = "FILE...",
    .doc = "Sum up the energy of a scheduler's jobs, and how much of their "
           "GPU time was idle, by job, user, account, partition, state, GPU "
           "or month. FILE is the output of sacct, a table of runs, or totals "
           "of --totals."
           "\vExamples:\n"
           "  dlest report sacct.txt --country FR --pue 1.3\n"
           "  dlest report sacct.txt --user ann --since 2024-03\n"
           "  dlest report sacct.txt --by user,month --gpu a100 -f csv\n"
           "  dlest report - --by account --node-power gpu=1800 "
           "<sacct.txt\n"
           "The table:\n"
           "  sacct -a -P -S 2024-03-01 -o JobID,User,State,ElapsedRaw,Start,"
           "End,\\\n"
           "      NodeList,NNodes,NCPUS,ConsumedEnergyRaw,AllocTRES "
           ">sacct.txt\n",
    .tables = tables,
    .options_size = sizeof(struct dl_report_options),
    .init = init,
    .run = run,
};
