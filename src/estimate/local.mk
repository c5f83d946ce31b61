# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/assumptions.c \
	%D%/assumptions.h \
	%D%/choices.c \
	%D%/choices.h \
	%D%/job.c \
	%D%/job.h \
	%D%/measured.c \
	%D%/measured.h \
	%D%/predictions.c \
	%D%/predictions.h \
	%D%/read_job.c \
	%D%/read_job.h \
	%D%/scoring.c \
	%D%/scoring.h \
	%D%/engine.c \
	%D%/engine.h \
	%D%/rows.c \
	%D%/result.h \
	%D%/rows.h
