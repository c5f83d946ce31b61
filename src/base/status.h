/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a call ended. The values are the exit statuses of the program. */

#ifndef DL_BASE_STATUS_H
#define DL_BASE_STATUS_H

enum dl_status {
  DL_OK = 0,      /* done */
  DL_EFAILED = 1, /* the system failed: I/O, memory */
  DL_EUSAGE = 2,  /* called wrongly: options, arguments */
  DL_EINPUT = 3,  /* input refused: bad data, unknown name */
  DL_EBUDGET = 4  /* done, but over the budget the user gave */
};

#endif
