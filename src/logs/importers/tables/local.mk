# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/epoch_log.c \
	%D%/run_overlaps.c \
	%D%/run_overlaps.h \
	%D%/runs_rows.c \
	%D%/runs_rows.h \
	%D%/runs_table.c \
	%D%/sample_columns.c \
	%D%/sample_columns.h \
	%D%/sample_devices.c \
	%D%/sample_header.c \
	%D%/sample_header.h \
	%D%/samples.c
