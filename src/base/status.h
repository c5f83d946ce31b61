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

/* Makes a call; where it fails, the function ends here with its status. For
 * functions that have nothing to undo: what they hold is freed where it is
 * declared (DL_SCOPED), or belongs to the caller. */
#define DL_TRY(call)                                                           \
  do {                                                                         \
    enum dl_status dl_tried = (call);                                          \
    if (dl_tried != DL_OK)                                                     \
      return dl_tried;                                                         \
  } while (0)

#endif
