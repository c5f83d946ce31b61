/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi, psutil, and logs of the ends of epochs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logs/importers/importers.h"
#include "logs/log.h"
#include "unit.h"
#include "tests/messages.h"

/* A log read whole. */
struct whole {
  struct dl_diag diag;
  enum dl_status status;
  struct dl_log *log;
  struct dl_reading reading[64];
  size_t n;
};

static void read_n(struct whole *w, const char *text, size_t len) {
  char path[] = "/tmp/dlest-test-XXXXXX";
  int fd = mkstemp(path);
  struct dl_log_options o = {0};
  struct dl_log_block block;
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, len), (ssize_t)len);
  close(fd);
  *w = (struct whole){0};
  w->status = dl_log_open(&w->log, path, &o, &w->diag);
  while (w->status == DL_OK) {
    w->status = dl_log_next(w->log, &block, &w->diag);
    if (w->status != DL_OK || block.n_readings == 0)
      break;
    for (size_t i = 0; i < block.n_readings && w->n < 64; i++)
      w->reading[w->n++] = block.reading[i];
  }
  unlink(path);
}

static void read_text(struct whole *w, const char *text) {
  read_n(w, text, strlen(text));
}

static void free_whole(struct whole *w) {
  dl_log_free(w->log);
  dl_diag_free(&w->diag);
}

static bool warned(const struct whole *w, const char *what) {
  for (size_t i = 0; i < w->diag.n_warnings; i++)
    if (strstr(w->diag.warnings[i], what))
      return true;
  return false;
}

static const struct dl_meter_info *meter(const struct whole *w, size_t i) {
  return &w->log->meter[w->reading[i].meter];
}

/* 2024-03-05 10:00:00 is day 19787 of the Unix calendar. */
#define TEN_O_CLOCK ((INT64_C(19787) * 86400 + 36000) * DL_SECOND)

static void test_renamed_columns(void **state) {
  struct whole w;
  (void)state;
  read_text(&w,
            "timestamp,gpu_name,gpu_usage,gpu_memory_usage,gpu_total_memory,"
            "gpu_memory_used,gpu_power_draw,gpu_max_power,gpu_temperature\n"
            "2024-03-05 10:00:00.250,Tesla T4,37 %,5 %,15109 MiB,9 MiB,"
            "61.25 W,70.00 W,55\n");
  assert_int_equal(w.status, DL_OK);
  assert_int_equal(w.n, 1);
  assert_int_equal(w.reading[0].ns, TEN_O_CLOCK + 250000000);
  assert_true(w.reading[0].power_w == 61.25);
  assert_true(w.reading[0].util == 0.37);
  assert_true(isnan(w.reading[0].energy_j));
  assert_string_equal(meter(&w, 0)->name, "Tesla T4");
  assert_null(meter(&w, 0)->id);
  assert_true(meter(&w, 0)->limit_w == 70);
  assert_int_equal(w.diag.n_warnings, 0);
  free_whole(&w);
}

static void test_own_columns_any_order(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "power.draw [W], index, utilization.gpu [%], timestamp\r\n"
                "50.5, 1, 20, 2024/03/05 10:00:00.000\r\n"
                "[N/A], 0, [N/A], 2024/03/05 10:00:01.000\r\n");
  assert_int_equal(w.n, 2);
  assert_true(w.reading[0].power_w == 50.5 && w.reading[0].util == 0.2);
  assert_string_equal(meter(&w, 0)->id, "1");
  assert_true(isnan(w.reading[1].power_w) && isnan(w.reading[1].util));
  assert_string_equal(meter(&w, 1)->id, "0");
  assert_int_equal(w.log->n_meters, 2);
  assert_int_equal(w.diag.n_warnings, 0);
  free_whole(&w);
}

static void test_uuid_before_index(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "timestamp, index, uuid, power.draw\n"
                "2024/03/05 10:00:00.000, 0, GPU-aa, 50 W\n");
  assert_string_equal(meter(&w, 0)->id, "GPU-aa");
  free_whole(&w);
}

static void test_no_header(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "2024/03/05 10:00:00.000, Tesla T4, 61.25 W, 70.00 W, 8 %\n"
                "2024/03/05 10:00:01.000, Tesla T4, 62.25 W, 70.00 W, 9 %\n");
  assert_int_equal(w.n, 2);
  assert_true(w.reading[1].power_w == 62.25 && w.reading[1].util == 0.09);
  assert_true(meter(&w, 0)->limit_w == 70);
  free_whole(&w);
}

static void test_header_again(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "timestamp, power.draw [W]\n2024/03/05 10:00:00, 50 W\n"
                "timestamp, power.draw [W]\n2024/03/05 10:00:01, 51 W\n");
  assert_int_equal(w.n, 2);
  assert_int_equal(w.diag.n_warnings, 0);
  free_whole(&w);
}

/* A later header has its own order, units and number of columns. */
static void test_other_header(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "timestamp, index, power.draw [W], utilization.gpu [%]\n"
                "2024/03/05 10:00:00, 0, 50, 7\n"
                "index, utilization.gpu [%], power.draw [mW], timestamp\n"
                "0, 9, 51000, 2024/03/05 10:00:01\n"
                "power.draw [W], timestamp, index\n"
                "52, 2024/03/05 10:00:02, 0\n");
  assert_int_equal(w.n, 3);
  assert_int_equal(w.diag.n_warnings, 0);
  assert_true(w.reading[1].power_w == 51 && w.reading[1].util == 0.09);
  assert_true(w.reading[2].power_w == 52 && isnan(w.reading[2].util));
  assert_int_equal(w.log->n_meters, 1);
  free_whole(&w);
}

/* Four boards without a column that names them: rounds of four rows. */
static void test_boards_in_turn(void **state) {
  struct whole w;
  char text[2048] = "timestamp, power.draw [W]\n";
  (void)state;
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 4; k++)
      sprintf(text + strlen(text), "2024/03/05 10:00:0%d.%03d, %d W\n", i,
              3 * k, 10 * k + i);
  read_text(&w, text);
  assert_int_equal(w.n, 24);
  assert_int_equal(w.log->n_meters, 4);
  for (size_t i = 0; i < 24; i++)
    assert_int_equal(w.reading[i].meter, i % 4);
  assert_true(warned(&w, "4 GPUs distinguished by their order"));
  free_whole(&w);
}

static void test_one_board_is_one(void **state) {
  struct whole w;
  char text[2048] = "timestamp, power.draw [W]\n";
  (void)state;
  for (int i = 0; i < 30; i++)
    sprintf(text + strlen(text), "2024/03/05 10:00:%02d.%03d, %d W\n",
            i + (i > 20) * 10, i * 7 % 50, 50 + i);
  read_text(&w, text);
  assert_int_equal(w.log->n_meters, 1);
  assert_int_equal(w.diag.n_warnings, 0);
  free_whole(&w);
}

static void test_faults(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "timestamp, power.draw [W]\n"
                "2024/03/05 10:00:00, abc\n"
                "2024/13/05 10:00:00, 50 W\n"
                "2024/03/05 10:00:00\n"
                "2024/03/05 10:00:01, 51 W\n"
                "2024/03/05 10:00:02, 5");
  assert_int_equal(w.status, DL_OK);
  assert_int_equal(w.n, 1);
  assert_int_equal(w.diag.n_skipped, 3);
  assert_true(
      warned(&w, ":2: " MSG_column_invalid_number("power.draw", "abc")));
  assert_true(warned(&w, ":3: column 'timestamp': invalid time"));
  assert_true(warned(&w, ":4: " MSG_expected_fields_found("2", "1")));
  assert_true(warned(&w, ":6: last line skipped"));
  free_whole(&w);
}

/* Whole lines count wherever the file is cut, the last one without its end,
 * too, below another. */
static void test_cut_anywhere(void **state) {
  static const char text[] =
      "timestamp, name, utilization.gpu [%], power.draw [W]\n"
      "2024/03/05 10:00:00.000, T4, 10 %, 50.25 W\n"
      "2024/03/05 10:00:01.000, T4, 20 %, 51.25 W\n"
      "2024/03/05 10:00:02.000, T4, 30 %, 52.25 W\n";
  (void)state;
  for (size_t len = 0; len < sizeof text; len++) {
    struct whole w;
    size_t lines = 0;
    read_n(&w, text, len);
    for (size_t i = 0; i < len; i++)
      lines += text[i] == '\n';
    if (len > 0 && text[len] == '\n' && lines > 1)
      lines++; /* one that lacks its end alone */
    assert_true(w.status == DL_OK || w.status == DL_EINPUT);
    if (lines > 0) {
      assert_int_equal(w.status, DL_OK);
      assert_int_equal(w.n, lines - 1);
      assert_int_equal(w.diag.n_skipped, 0);
    }
    for (size_t i = 0; i < w.n; i++)
      assert_true(w.reading[i].power_w == 50.25 + (double)i);
    free_whole(&w);
  }
}

static void test_psutil(void **state) {
  struct whole w;
  (void)state;
  read_text(&w,
            "timestamp,cpu usage (%),memory usage (MB),temperature (Celsius)\n"
            "2024-03-05T10:00:00.500000,25.0,8000.0,32.0\n");
  assert_int_equal(w.n, 2);
  assert_int_equal(meter(&w, 0)->kind, DL_METER_RAM);
  assert_near(w.reading[0].power_w, 3, 1e-12); /* 8000 x 3.75e-4 */
  assert_int_equal(w.reading[0].ns, TEN_O_CLOCK + DL_SECOND / 2);
  assert_int_equal(meter(&w, 1)->kind, DL_METER_CPU);
  assert_true(w.reading[1].util == 0.25 && isnan(w.reading[1].power_w));
  free_whole(&w);
}

static void test_epoch_ends(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "epoch,loss,end_time\n0,1.5,2024-03-05 10:00:00\n"
                "1,1.2,2024-03-05T10:01:00\n3,1.1,2024-03-05 10:02:00\n");
  assert_int_equal(w.n, 3);
  assert_int_equal(meter(&w, 0)->kind, DL_METER_EPOCH);
  assert_int_equal(w.reading[2].ns, TEN_O_CLOCK + 120 * DL_SECOND);
  assert_true(warned(&w, MSG_epoch_follows_epoch_one("3", "1")));
  free_whole(&w);
  read_text(&w, "end_s,epoch\n30.5,0\n61,1\n");
  assert_int_equal(w.n, 2);
  assert_int_equal(w.log->clock, DL_CLOCK_RELATIVE);
  assert_int_equal(w.reading[0].ns, 30500000000);
  free_whole(&w);
}

static void test_unknown_file(void **state) {
  struct whole w;
  (void)state;
  read_text(&w, "name,colour\nx,y\n");
  assert_int_equal(w.status, DL_EINPUT);
  assert_non_null(strstr(w.diag.error, "unknown log format"));
  free_whole(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_renamed_columns),
      cmocka_unit_test(test_own_columns_any_order),
      cmocka_unit_test(test_uuid_before_index),
      cmocka_unit_test(test_no_header),
      cmocka_unit_test(test_header_again),
      cmocka_unit_test(test_other_header),
      cmocka_unit_test(test_boards_in_turn),
      cmocka_unit_test(test_one_board_is_one),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_cut_anywhere),
      cmocka_unit_test(test_psutil),
      cmocka_unit_test(test_epoch_ends),
      cmocka_unit_test(test_unknown_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
