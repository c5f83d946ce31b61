# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/seen_jobs.c \
	%D%/seen_jobs.h \
	%D%/seen_rows.c \
	%D%/seen_rows.h \
	%D%/seen_times.c \
	%D%/seen_times.h
