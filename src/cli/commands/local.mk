# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/cmd_calibrate.c \
	%D%/cmd_check.c \
	%D%/cmd_compare.c \
	%D%/cmd_describe.c \
	%D%/cmd_extract.c \
	%D%/cmd_fit.c \
	%D%/cmd_list.c \
	%D%/cmd_plot.c \
	%D%/cmd_predict.c \
	%D%/cmd_recommend.c \
	%D%/cmd_record.c \
	%D%/cmd_report.c \
	%D%/cmd_show.c \
	%D%/cmd_step.c
