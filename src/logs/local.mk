# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/extract.c \
	%D%/extract.h \
	%D%/log.c \
	%D%/log.h \
	%D%/log_contents.c \
	%D%/log_copies.c \
	%D%/log_copies.h \
	%D%/log_grouping.c \
	%D%/log_grouping.h \
	%D%/log_part.c \
	%D%/log_part.h \
	%D%/log_private.h \
	%D%/path_pattern.c \
	%D%/path_pattern.h \
	%D%/run_logs.c \
	%D%/run_logs.h \
	%D%/run_settings.c \
	%D%/run_settings.h \
	%D%/split_runs.c \
	%D%/split_runs.h
